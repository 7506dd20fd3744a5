# benchc: from multiple-choice benchmarks to a database of where models fail.
# Config, the rules of each stage, the public targets; nothing else.

import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version

from benchc import locks
from benchc.errors import BadInput
from benchc.workflow import Workflow

min_version("9.27")

# `config` holds what the command line gave; the rest comes from config.yaml.
try:
    if workflow.is_main_process:
        locks.hold(Path(".snakemake"))
    RUN = Workflow(
        config,
        project=workflow.current_basedir.get_path_or_uri(secret_free=True),
        files=workflow.overwrite_configfiles,
        results=workflow.modifier.modify_path("results"),
    )
except BadInput as error:
    raise WorkflowError(str(error)) from None

if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    # Their environment holds what benchc imports; benchc itself is that of this checkout.
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
