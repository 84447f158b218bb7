"""Graph files: round trips, foreign files, and one clear line for every bad one."""

import json
import tempfile
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import example, given

from gbb import Graph, InputError
from test_graph import graphs, untimed


def named(*names: str) -> Graph:
    return Graph.from_edges(Graph.path(len(names)).edges, names=names)


def round_trip(graph: Graph, extension: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{extension}"
        graph.write(path)
        assert [file.name for file in Path(folder).iterdir()] == [path.name]
        return Graph.read(path)


@untimed
@given(graphs())
@example(named("2", "0", "1"))
def test_json_round_trip(graph: Graph) -> None:
    assert round_trip(graph, ".json") == graph


@untimed
@given(graphs())
@example(named("2", "0", "1"))
@example(named(" a ", "a\u00a0", "<&>\"'"))
def test_graphml_round_trip(graph: Graph) -> None:
    assert round_trip(graph, ".graphml") == graph


def like_numbers(graph: Graph) -> bool:
    try:
        return sorted(map(int, graph.names or ())) == list(range(graph.n))
    except ValueError:
        return False


def stripped(graph: Graph) -> bool:
    return all(name == name.strip() for name in graph.names or ())


@untimed
@given(graphs(isolated=False).filter(lambda graph: not like_numbers(graph) and stripped(graph)))
@example(named("source", "target"))
@example(named("#1", "a#b", "a,b", 'say "x"'))
@example(named("NA", "nan", "null"))
@example(named("01", "1", "+1"))
@example(named("3", "1", "2"))
def test_csv_round_trip(graph: Graph) -> None:
    assert round_trip(graph, ".csv") == graph


def test_csv_has_a_header_and_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    Graph.path(3).write(path)
    assert path.read_text().splitlines() == ["source,target", "0,1", "1,0", "1,2", "2,1"]


@pytest.mark.parametrize(
    ("text", "undirected"),
    [
        ("0,1\n1,0\n1,2\n2,1\n", False),
        ("0,1\n1,2", True),
        ("weight,Target,Source\r\n3,1,0\r\n4,2,1\r\n", True),
        ("\ufeffsource, target\n0, 1\n\n1, 2\n", True),
        ("source,target\n2,1\n\n1,0\n\n", True),
    ],
)
@pytest.mark.filterwarnings("ignore:Left out")
def test_csv_with_numbers(tmp_path: Path, text: str, undirected: bool) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert Graph.read(path, undirected=undirected) == Graph.path(3)
    assert Graph.read(str(path), undirected=undirected).names is None


@pytest.mark.parametrize(
    "header",
    ["From,To", "src,dst", "SRC,DST", "u,v", "i,j", "I, J", "node1,node2", '"agent1","agent2"'],
)
def test_csv_headers(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n0,1\n1,2\n")
    assert Graph.read(path, undirected=True) == Graph.path(3)
    path.write_text(f"{header},weight\n0,1,5\n1,0,5\n1,2,5\n2,1,5\n")
    with pytest.warns(UserWarning, match="Left out 'weight', as a graph holds edges only"):
        assert Graph.read(path) == Graph.path(3)
    path.write_text(f"{header}\nkitchen,hall\nhall,porch\n")
    assert Graph.read(path, undirected=True) == named("kitchen", "hall", "porch")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("source,target\nb,a\na,c\n", ("b", "a", "c")),
        ("source,target\n1,2\n2,3\n", ("1", "2", "3")),
        ("source,target\n0,1\n1,5\n", ("0", "1", "5")),
        ("source,target\n007,1\n1,2\n", ("007", "1", "2")),
        ("source,target\n99999999999999999999,1\n1,2\n", ("99999999999999999999", "1", "2")),
        ("source,target\n-1,0\n0,1\n", ("-1", "0", "1")),
    ],
)
def test_csv_with_names(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    graph = Graph.read(path, undirected=True)
    assert graph.names == names
    assert graph == named(*names)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "# only this\n", "the columns source and target, but got # only this"),
        ("a.csv", "source,target\n", "it holds no edge"),
        ("a.csv", "source,target\n\n\n", "it holds no edge"),
        ("a.csv", "0 1\n1 0\n", "the columns source and target, but got 0 1"),
        ("a.csv", "u,v\na,b\nb,\n", "line 3 has no target"),
        ("a.csv", "u,v\na,b\n,a\n", "line 3 has no source"),
        ("a.csv", "u,v\na,b\nb\n", "line 3 has no target"),
        ("a.csv", "x,y\n0,1\n1,0\n", "the columns source and target, but got x,y"),
        ("a.csv", "0,1\n", r"\(0, 1\) at line 1 without the edge back\. Pass undirected=True"),
        ("a.csv", "u,v\nx,y\n", r"\('x', 'y'\) at line 2 without the edge back\. Pass undirect"),
        ("a.csv", "0,1\n1,0\n1,1\n", r"different agents.*\(1, 1\) at line 3"),
        ("a.csv", "a,b\n\xff\xfe,b\n", r"not text in UTF-8 \(0xff on line 2\); save it as UTF-8\."),
        ("a.csv", "0\r,0", "the columns source and target, but got 0"),
        ("a.graphml", "", "the file is empty"),
        ("a.graphml", "hello", r"it is malformed \(ParseError: syntax error"),
        ("a.graphml", "<graphml></graphml>", r"it is malformed \("),
        ("a.json", "", "the file is empty"),
        ("a.json", "{", r"it is malformed \("),
        ("a.json", "[" * 100_000, r"it is malformed \("),
        ("a.json", "[]", r"it is malformed \("),
        ("a.json", '{"nodes": []}', r"it is malformed \(KeyError: 'edges'\)"),
        ("a.json", '{"nodes": [], "edges": []}', "`n` to be a whole number >= 1"),
        (
            "a.json",
            '{"nodes": [{"id": 0}], "edges": [{"source": 0}]}',
            r"it is malformed \(KeyError: 'target'\)",
        ),
        ("a.json", '{"nodes": [3], "edges": []}', "it is malformed"),
        (
            "a.json",
            '{"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "b"}]}',
            "edges must join listed nodes",
        ),
        ("a.json", '{"nodes": [{"id": 0}], "edges": [], "multigraph": true}', "MultiGraph"),
        ("a.txt", "", "the file is empty"),
        ("a.txt", "hello\n", "starts with `n m`.* but after 'hello' come 0 rows"),
        ("a.txt", "3 2\n1 2 1\n", "but after '3 2' come 1 rows"),
        ("a.txt", "3 1\n", "but after '3 1' come 0 rows"),
        (
            "a.txt",
            "0 1\n1 2\n2 0\n",
            "a Gset file starts .* can be a .csv file with a header",
        ),
        ("a.txt", "a b\n", "a Gset file starts with .* A list of links can be a .csv file"),
        ("a.edgelist", "0 1\n", "one of '.csv', .* but got '.edgelist'"),
        ("a.txt", "3 1\n0 2 1\n", r"from 1 to 3, but one row has \[0\.0, 2\.0\]"),
        ("a.txt", "3 1\na 2 1\n", r"it is malformed \("),
        ("a.txt", "3 1\n1\n", "a row `i j .weight.` for each of m edges"),
        ("a.txt", "3 2\n1 2\n2 1\n", r"each edge once, but got \(1, 0\) at row 1 after"),
        ("a.txt", "9" * 400 + " 1\n1 2\n", "a Gset file starts with `n m`"),
        ("a.txt", "3 " + "9" * 400 + "\n1 2\n", "a Gset file starts with `n m`"),
        ("a.txt", "3 1\n1 " + "9" * 400 + "\n", "numbers from 1 to 3, but one row has"),
        ("a.txt", "999999999999999 1\n1 2\n", "`n` to fit into this machine's memory"),
        ("a.txt", "3 1\n1 2.5 1\n", "numbers from 1 to 3, but one row has"),
        ("a.json", '{"nodes": [{"id": ' + "9" * 5000 + '}], "edges": []}', "it is malformed"),
        ("a.gset", "0 0\n", "`n` to be a whole number >= 1"),
    ],
)
def test_bad_files(tmp_path: Path, file: str, text: str, message: str) -> None:
    path = tmp_path / file
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message) as caught:
        Graph.read(path)
    assert str(caught.value).startswith(f"Cannot read `path` '{path}': ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["site_a,site_b,km\nP1,P2,3\n", "id,site_a,site_b\n0,P1,P2\n", "a,b\n1,2\n", "a;b\n1;2\n"],
)
def test_an_unknown_header_is_not_taken_for_agents(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    first = text.partition("\n")[0]
    with pytest.raises(InputError, match=f"the columns source and target, but got {first}. A list"):
        Graph.read(path, undirected=True)


def test_blanks_around_agents_do_not_make_others(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("u,v \nP1,P2 \nP2,\tP3\t\n")
    assert Graph.read(path, undirected=True) == named("P1", "P2", "P3")
    path.write_text("0 , 1 \n1 ,2\n")
    assert Graph.read(path, undirected=True) == Graph.path(3)


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("a.csv", "source,target\n0,1\n0,1\n", 3),
        ("a.csv", "source,target\n\na,b\nb,\n", 4),
        ("a.csv", "u,v\na,b\n\na,b\n", 4),
        ("a.csv", "u,v\na,b\nb,a,c\n", 3),
    ],
)
def test_errors_name_the_line_that_an_editor_shows(tmp_path, file, text, line) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=rf"\bline {line}\b"):
        Graph.read(tmp_path / file, undirected=True)


def test_missing_cells_are_no_agents(tmp_path: Path) -> None:
    for missing in (None, float("nan")):
        with pytest.raises(InputError, match=r"a name for every agent.*\('b', .*\) at row 1"):
            Graph.from_edges([("a", "b"), ("b", missing)], undirected=True)
        with pytest.raises(
            InputError, match=r"`names` to hold a name each, but got .* at position"
        ):
            Graph.from_edges([(0, 1)], names=["a", missing], undirected=True)
    path = tmp_path / "a.json"
    path.write_text('{"nodes": [{"id": "a"}, {"id": NaN}], "edges": []}')
    with pytest.raises(InputError, match="hold a name each, but got nan at position 1"):
        Graph.read(path)


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
def test_weights_of_networkx_are_left_out_with_a_warning(tmp_path: Path, suffix: str) -> None:
    g = nx.path_graph(3)
    nx.set_edge_attributes(g, {(0, 1): 1.0, (1, 2): 2.5}, "weight")
    with pytest.warns(UserWarning, match="Left out 'weight'"):
        assert Graph.from_networkx(g) == Graph.path(3)
    path = tmp_path / f"a{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(nx.node_link_data(g, edges="edges")))
    else:
        nx.write_graphml(g, path)
    with pytest.warns(UserWarning, match="Left out 'weight'"):
        assert Graph.read(path) == Graph.path(3)
    nx.set_edge_attributes(g, 1, "weight")
    assert Graph.from_networkx(g) == Graph.path(3)


def test_csv_with_the_ends_of_lines_of_old_systems(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"source,target\r0,1\r1,2\r")
    assert Graph.read(path, undirected=True) == Graph.path(3)


def test_missing_files_and_unknown_extensions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.csv': No such file or directory\."):
        Graph.read(tmp_path / "no.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv': Is a directory\."):
        Graph.read(tmp_path / "folder.csv")
    with pytest.raises(
        InputError, match=r"a\.cvs'.*suffix` to be one of '\.csv', .*'\.cvs'\. Did you mean '\.csv'"
    ):
        Graph.read(tmp_path / "a.cvs")
    with pytest.raises(InputError, match=r"one of '\.csv', '\.graphml', '\.json', but got '\.txt'"):
        Graph.path(3).write(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"Cannot write `path` .*Is a directory\."):
        Graph.path(3).write(tmp_path / "folder.csv")


def test_extensions_in_capitals(tmp_path: Path) -> None:
    Graph.path(3).write(tmp_path / "A.CSV")
    assert Graph.read(tmp_path / "A.CSV") == Graph.path(3)


@pytest.mark.parametrize("names", [("1", "0"), ("a", "a "), ("a\nb ", "c")])
def test_names_that_a_csv_cannot_hold(tmp_path: Path, names: tuple[str, str]) -> None:
    with pytest.raises(InputError, match=r"to come back the same from a \.csv file.*\.json file"):
        named(*names).write(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
    assert round_trip(named(*names), ".json").names == names


def test_what_files_cannot_hold(tmp_path: Path) -> None:
    lonely = Graph.from_edges([("a", "b")], names=["a", "b", "c"], undirected=True)
    with pytest.raises(InputError, match=r"agents without edges.*Write a \.json file"):
        lonely.write(tmp_path / "a.csv")
    with pytest.raises(InputError, match="Cannot write `path`"):
        named("\x00", "c").write(tmp_path / "a.graphml")
    assert not list(tmp_path.iterdir())
    assert round_trip(named("a\nb\x00", "\ud800"), ".json").names == ("a\nb\x00", "\ud800")


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    Graph.path(3).write(path)
    with pytest.raises(InputError, match="without edges"):
        Graph.from_edges([], n=2).write(path)
    assert Graph.read(path) == Graph.path(3)


@pytest.mark.parametrize("key", ["edges", "links"])
def test_node_link_json_of_others(tmp_path: Path, key: str) -> None:
    path = tmp_path / "a.json"
    data = {"nodes": [{"id": "a", "x": 1}, {"id": "b"}], key: [{"source": "a", "target": "b"}]}
    path.write_text(json.dumps(data))
    assert Graph.read(path) == named("a", "b")
    path.write_text(json.dumps({"directed": True, **data}))
    with pytest.raises(InputError, match=r"\('a', 'b'\) at row 0 without"):
        Graph.read(path)
    assert Graph.read(path, undirected=True) == named("a", "b")


def test_graphml_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.graphml"
    nx.write_graphml(nx.DiGraph([("n0", "n1"), ("n1", "n2")]), path)
    with pytest.raises(InputError, match=r"\('n0', 'n1'\) at row 0 without"):
        Graph.read(path)
    assert Graph.read(path, undirected=True) == named("n0", "n1", "n2")
    nx.write_graphml(nx.path_graph(3), path)
    assert Graph.read(path) == Graph.path(3)


@pytest.mark.parametrize("head", ["4 3", "4 3 J", "4 3 \r"])
@pytest.mark.parametrize("file", ["G.txt", "G.gset"])
def test_gset(tmp_path: Path, head: str, file: str) -> None:
    path = tmp_path / file
    path.write_text(f"{head}\n1 3 1\n2 1 -1\n3 2 1\n")
    with pytest.warns(UserWarning, match="Left out 'weight'.*edge_weights"):
        graph = Graph.read(path)
    assert (graph.n, graph.m, graph.names) == (4, 6, None)
    assert graph.neighbours(0).tolist() == [1, 2]
    assert graph.degrees.tolist() == [2, 2, 2, 0]


def test_gset_without_weights_or_edges(tmp_path: Path) -> None:
    path = tmp_path / "G.txt"
    path.write_text("3 2\n1 2\n2 3\n")
    assert Graph.read(path) == Graph.path(3)
    path.write_text("3 0\n")
    assert Graph.read(path) == Graph.from_edges([], n=3)


@pytest.mark.parametrize(
    "text",
    [
        "source,target\nA,B,C\n",
        "source,target\nA,B\nB,Saint, East\n",
        'source,target\n"A","B"\n"B","C",D\n',
        "0,1\n1,2,0\n",
    ],
)
def test_a_row_longer_than_the_first_is_refused(tmp_path, text):
    """A comma in a name would make another network of the file."""
    path = tmp_path / "sites.csv"
    path.write_text(text)
    with pytest.raises(
        InputError, match=r"Expected 2 fields in line \d, saw 3|its rows have more cells than"
    ):
        Graph.read(path, undirected=True)
