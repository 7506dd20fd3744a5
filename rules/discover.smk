# discover: a questioner that learns what a model cannot see, against one model at a time.
# Nothing here is part of the default run: ask for `discover` or `discover_full`. So that planning
# the default run is not slower for it, fingerprints are functions, called where they are needed.


rule discover:
    input:
        "results/discover/default/index.html",
        "results/discover/default/discovery.duckdb",


rule discover_full:
    input:
        "results/discover/full/index.html",
        "results/discover/full/discovery.duckdb",


rule play:
    input:
        model=lambda wildcards: RUN.record_of(RUN.config.models[wildcards.model]),
    output:
        asked="results/discover/{model}/{condition}/{way}/asked.parquet",
        training="results/discover/{model}/{condition}/{way}/training.parquet",
        steps="results/discover/{model}/{condition}/{way}/steps.parquet",
    log:
        "results/logs/discover/{model}/{condition}/{way}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.config.models),
        condition="clean|[a-z_]+-[1-5]",
        way=RUN.one_of(RUN.discovery.ways),
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=600,
        gpu=RUN.discovery.gpus,
    params:
        # What asks for `threads`, `input` or `output` triggers no rerun: `identity` says what counts.
        identity=lambda wildcards: RUN.discovery.identity(
            wildcards.model, wildcards.condition
        ),
        settings=lambda wildcards, threads: RUN.discovery.settings,
        model=lambda wildcards, threads: RUN.model_settings(wildcards.model),
        fetched=lambda wildcards, input: RUN.fetched_option(input.model),
        condition=lambda wildcards: RUN.discovery.condition_options(wildcards.condition),
        seed=RUN.config.seed,
        work=lambda wildcards, output: RUN.discovery.work(output.asked),
    shell:
        "benchc --log {log} --gpus {resources.gpu} discover play {wildcards.way}"
        " --key {wildcards.model}"
        " --model {params.model:q} --settings {params.settings:q} --seed {params.seed}"
        " {params.condition} {params.fetched} --identity {params.identity}"
        " --work {params.work:q} --out {output.asked}"
        " --training {output.training} --steps {output.steps}"


rule sort_failures:
    input:
        asked=lambda wildcards: RUN.discovery.plays(
            "results/discover/{model}/{condition}/{way}/asked.parquet",
            wildcards.extent == "full",
        ),
    output:
        skills="results/discover/{extent}/skills.parquet",
        questions="results/discover/{extent}/question_skills.parquet",
    log:
        "results/logs/discover/{extent}-taxonomy.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        asked=lambda wildcards, input: RUN.option("--asked", input.asked),
        embedder=lambda wildcards: RUN.discovery.embedder_fingerprint,
        options=lambda wildcards, threads: RUN.discovery.embedder_options,
        code=lambda wildcards: RUN.code("discover_taxonomy"),
    shell:
        "benchc --log {log} discover taxonomy {params.asked} {params.options}"
        " --skills {output.skills} --questions {output.questions}"


rule measure_ways:
    input:
        asked=rules.sort_failures.input.asked,
        questions=rules.sort_failures.output.questions,
    output:
        "results/discover/{extent}/measures.parquet",
    log:
        "results/logs/discover/{extent}-measures.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    params:
        asked=lambda wildcards, input: RUN.option("--asked", input.asked),
        embedder=lambda wildcards: RUN.discovery.embedder_fingerprint,
        options=lambda wildcards, threads: RUN.discovery.embedder_options,
        code=lambda wildcards: RUN.code("discover_measure"),
    shell:
        "benchc --log {log} discover measure {params.asked} --questions {input.questions}"
        " {params.options} --out {output}"


rule discovery_database:
    input:
        asked=rules.sort_failures.input.asked,
        training=lambda wildcards: RUN.discovery.plays(
            "results/discover/{model}/{condition}/{way}/training.parquet",
            wildcards.extent == "full",
        ),
        steps=lambda wildcards: RUN.discovery.plays(
            "results/discover/{model}/{condition}/{way}/steps.parquet",
            wildcards.extent == "full",
        ),
        skills=rules.sort_failures.output.skills,
        questions=rules.sort_failures.output.questions,
        measures=rules.measure_ways.output,
    output:
        "results/discover/{extent}/discovery.duckdb",
    log:
        "results/logs/discover/{extent}-database.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=30,
    params:
        tables=lambda wildcards, input: [
            *RUN.option("--asked", input.asked),
            *RUN.option("--training", input.training),
            *RUN.option("--steps", input.steps),
        ],
        code=lambda wildcards: RUN.code("discover_database"),
    shell:
        "benchc --log {log} discover build {params.tables} --skills {input.skills}"
        " --questions {input.questions} --measures {input.measures} --out {output}"


rule discovery_report:
    input:
        "results/discover/{extent}/discovery.duckdb",
    output:
        "results/discover/{extent}/index.html",
    log:
        "results/logs/discover/{extent}-report.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=30,
    params:
        seed=RUN.config.seed,
        images=lambda wildcards, threads: RUN.discovery.image_options,
        code=lambda wildcards: RUN.code("discover_report"),
    shell:
        "benchc --log {log} discover report --database {input} {params.images}"
        " --seed {params.seed} --out {output}"
