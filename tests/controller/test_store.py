"""Every statement on the events of a controller is served by an index."""

import numpy as np

from control import drive, environment, small, url_of
from gbb.controller import Controller


def test_no_statement_scans_the_log(tmp_path):
    with Controller.create(url_of(tmp_path), small()) as controller:
        drive(controller, environment(small()), np.random.default_rng(0), 5)
        with controller._log.read() as view:
            said, study = [], view.study
            study.connection.set_trace_callback(said.append)  # with the values in their places
            study.head()
            study.event(4)
            study.snapshot()
            list(study.events(after=3, seal=study.event(3).seal))
            study.events_of(2, 3)
            study.page(3, kinds={"tell"}, before=9)
            study.page(3, after=2)
            study.events_of_kind("retract")
            study.connection.set_trace_callback(None)
            plans = {
                sql: [row[-1] for row in study.connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
                for sql in said
            }
    assert len(plans) >= 8
    for sql, plan in plans.items():
        assert all(step.startswith("SEARCH") for step in plan), (sql, plan)
    (of_trials,) = (plan for sql, plan in plans.items() if "trial IN" in sql)
    assert "gbb_events_by_trial (study=? AND trial=?)" in of_trials[0]  # in order, without sorting
