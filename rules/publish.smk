# publish: put what was built whole in the place of the old. Snakemake removes the outputs of a rule
# before its job begins: so what takes long or may be refused is built in `.built`, and the good old
# one stays until a link to the new one takes its place.


rule publish:
    input:
        "results/.built/{file}",
    output:
        "results/{file}",
    log:
        "results/logs/publish/{file}.log",
    wildcard_constraints:
        file=r"bench-c\.duckdb|discover/(default|full)/(discovery\.duckdb|index\.html)",
    localrule: True
    conda:
        "../envs/benchc.yaml"
    shell:
        "benchc --log {log} publish {input} {output}"


rule publish_report:
    input:
        page="results/.built/report/index.html",
        cases="results/.built/report/cases",
    output:
        page=report(
            "results/report/index.html",
            caption="captions/report.rst",
            category="Findings",
            labels={"what": "the report"},
        ),
        cases=directory("results/report/cases"),
    log:
        "results/logs/publish/report.log",
    localrule: True
    conda:
        "../envs/benchc.yaml"
    shell:
        "benchc --log {log} publish {input.cases} {output.cases}"
        " && benchc --log {log} publish {input.page} {output.page}"
