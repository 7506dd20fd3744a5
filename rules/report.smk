# report: the page that shows what the database holds.


rule report:
    input:
        database="results/bench-c.duckdb",
        images="results/pool/images.parquet",
        embeddings="results/embed/embeddings.parquet",
    output:
        page="results/.built/report/index.html",
        cases=directory("results/.built/report/cases"),
    log:
        "results/logs/report.log",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        options=RUN.render_options,
        place=lambda wildcards, output: RUN.place_of(output.page),
        code=RUN.code("report"),
    shell:
        "benchc --log {log} report build --database {input.database} --images {input.images}"
        " --embeddings {input.embeddings} {params.options} --out {output.page} --place {params.place:q}"
