"""Stored layouts as a method: each task evaluates one of them."""

from vindeby.assembly.evaluation import Evaluation
from vindeby.campaign import Campaign, Task
from vindeby.campaign.tasks import Cell
from vindeby.runner.methods.method_protocol import Solve, TaskResult


class StoredMethod:
    """Evaluates the stored layouts of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self._evaluation = Evaluation(campaign)

    def prepare(self, cell: Cell) -> Solve:
        """Set up the energies of a farm and type in the wind and wakes of a combination."""
        evaluate = self._evaluation.of(cell)

        def solve(task: Task) -> TaskResult:
            return TaskResult(*evaluate(task))

        return solve
