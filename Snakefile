# benchc: from multiple-choice benchmarks to a database of where models fail.
# Config, the rules of each stage, the public targets; nothing else.

import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version

from benchc.running import locks
from benchc.errors import BadInput
from benchc.running.identity import Remaking
from benchc.running.settings import write_settings
from benchc.running.workflow import Workflow

min_version("9.27")

# `config` holds what the command line gave; the rest comes from config.yaml.
try:
    RUN = Workflow(
        config,
        project=workflow.current_basedir.get_path_or_uri(secret_free=True),
        files=workflow.overwrite_configfiles,
        results=workflow.modifier.modify_path("results"),
    )
except BadInput as error:
    raise WorkflowError(str(error)) from None

if RUN.own_folder and RUN.results == Path("results"):

    workdir: RUN.own_folder

    if workflow.is_main_process:
        print(f"A trial: results are in {RUN.own_folder}/results", file=sys.stderr)


try:
    ALONE = workflow.is_main_process and locks.hold(Path(".snakemake"))
    RUN.refuse_to_overwrite()
    # Here and not when the run starts: of a workflow inside another one Snakemake takes no hooks.
    if workflow.is_main_process and not workflow.dryrun and not RUN.is_read_only():
        write_settings(RUN, ALONE)
except BadInput as error:
    raise WorkflowError(str(error)) from None

REMAKING = Remaking(
    RUN,
    recorded=lambda path: workflow.persistence.params(IOFile(path)),
    force=lambda path: workflow.dag.forcefiles.add(path),
)

if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    # Their environment holds what benchc imports; benchc itself is that of this checkout.
    if not (RUN.project / "src").is_dir():
        raise WorkflowError(
            "--sdm conda needs a clone of benchc: its environment has no benchc"
        )
    source = shlex.quote(str(RUN.project / "src"))
    shell.prefix(
        f'set -euo pipefail; benchc() {{{{ PYTHONPATH={source} python -m benchc "$@"; }}}}; '
    )


report: "rules/captions/workflow.rst"


include: "rules/reference.smk"
include: "rules/fetch.smk"
include: "rules/pool.smk"
include: "rules/corrupt.smk"
include: "rules/embed.smk"
include: "rules/infer.smk"
include: "rules/select.smk"
include: "rules/diagnose.smk"
include: "rules/report.smk"
include: "rules/discover.smk"
include: "rules/publish.smk"


onstart:
    if RUN.is_read_only():
        raise WorkflowError(
            f"{RUN.results}: this folder cannot be written; mend that, or use --directory"
        )


onerror:
    if workflow.execution_settings.keep_going and RUN.way_on():
        print(RUN.way_on(), file=sys.stderr)


rule all:
    default_target: True
    input:
        "results/bench-c.duckdb",
        "results/report/index.html",
        RUN.each_model("results/models/{model}/diagnosis.parquet"),
        RUN.each_model("results/infer/{model}/predictions.parquet"),
