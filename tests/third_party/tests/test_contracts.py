"""What is ours keeps gbb's contracts."""

from their_bandits.best_of_random import best_of_random
from their_bandits.bold_thompson import BoldThompson
from their_bandits.fading_greedy import FadingGreedy
from their_bandits.modest_oful import ModestOFUL
from their_bandits.same_arm import same_arm
from their_bandits.triangular import triangular

from gbb.testing import cut_contract, noise_contract, policy_contract, solver_contract

TestFadingGreedy = policy_contract(FadingGreedy, explore=2.0)
TestModestOFUL = policy_contract(ModestOFUL)
TestBoldThompson = policy_contract(BoldThompson, draws=2)
TestBestOfRandom = cut_contract(best_of_random)
TestSameArm = solver_contract(same_arm)
TestTriangular = noise_contract(triangular)
