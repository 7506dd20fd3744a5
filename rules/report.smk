# report: the page that shows what the database holds.


rule report:
    input:
        database="results/bench-c.duckdb",
        images="results/pool/images.parquet",
        embeddings="results/embed/embeddings.parquet",
    output:
        page=report(
            "results/report/index.html",
            caption="captions/report.rst",
            category="Findings",
            labels={"what": "the report"},
        ),
        cases=directory("results/report/cases"),
    log:
        "results/logs/report.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        options=RUN.render_options,
        code=RUN.code("report"),
    shell:
        "benchc --log {log} report build --database {input.database} --images {input.images}"
        " --embeddings {input.embeddings} {params.options} --out {output.page}"
