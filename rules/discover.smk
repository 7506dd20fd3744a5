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
        earlier=lambda wildcards: REMAKING("play", wildcards),
    output:
        asked="results/discover/{model}/{condition}/{way}/asked.parquet",
        training="results/discover/{model}/{condition}/{way}/training.parquet",
        steps="results/discover/{model}/{condition}/{way}/steps.parquet",
    log:
        "results/logs/discover/{model}/{condition}/{way}.log",
    wildcard_constraints:
        model=RUN.one_of(RUN.config.models),
        condition="clean|[a-z0-9_]+-[1-5]",
        way=RUN.one_of(RUN.discovery.ways),
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=600,
        gpu=RUN.discovery.gpus,
        settings=RUN.settings_file("discover"),
        model=lambda wildcards: RUN.settings_file("models", wildcards.model),
    params:
        identity=lambda wildcards: RUN.identity("play", wildcards),
        fetched=lambda wildcards, input: RUN.fetched_option(input.model),
        condition=lambda wildcards: RUN.discovery.condition_options(wildcards.condition),
        seed=RUN.config.seed,
        work=lambda wildcards, output: RUN.discovery.work(output.asked),
    shell:
        "benchc --log {log} --identity {params.identity} --gpus {resources.gpu} discover play {wildcards.way}"
        " --key {wildcards.model}"
        " --model-settings {resources.model:q} --settings {resources.settings:q} --seed {params.seed}"
        " {params.condition} {params.fetched}"
        " --work {params.work:q} --out {output.asked}"
        " --training {output.training} --steps {output.steps}"


rule sort_failures:
    input:
        asked=lambda wildcards: RUN.discovery.plays(
            "results/discover/{model}/{condition}/{way}/asked.parquet",
            wildcards.extent == "full",
        ),
        earlier=lambda wildcards: REMAKING("sort_failures", wildcards),
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
        settings=RUN.settings_file("discover"),
    params:
        asked=lambda wildcards, input: RUN.option("--asked", input.asked),
        identity=lambda wildcards: RUN.identity("sort_failures", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity}"
        " discover taxonomy {params.asked} --settings {resources.settings:q}"
        " --skills {output.skills} --question-skills {output.questions}"


rule measure_ways:
    input:
        asked=rules.sort_failures.input.asked,
        questions=rules.sort_failures.output.questions,
        earlier=lambda wildcards: REMAKING("measure_ways", wildcards),
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
        settings=RUN.settings_file("discover"),
    params:
        asked=lambda wildcards, input: RUN.option("--asked", input.asked),
        identity=lambda wildcards: RUN.identity("measure_ways", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} discover measure {params.asked} --question-skills {input.questions}"
        " --settings {resources.settings:q} --out {output}"


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
        earlier=lambda wildcards: REMAKING("discovery_database", wildcards),
    output:
        "results/.built/discover/{extent}/discovery.duckdb",
    log:
        "results/logs/discover/{extent}-database.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=30,
        run=RUN.settings_file("discovery"),
    params:
        tables=lambda wildcards, input: [
            *RUN.option("--asked", input.asked),
            *RUN.option("--training", input.training),
            *RUN.option("--steps", input.steps),
        ],
        place=lambda wildcards, output: RUN.place_of(output[0]),
        identity=lambda wildcards: RUN.identity("discovery_database", wildcards),
    shell:
        "benchc --log {log} --identity {params.identity} discover build {params.tables} --skills {input.skills}"
        " --question-skills {input.questions} --measures {input.measures} --run {resources.run:q}"
        " --out {output} --place {params.place:q}"


rule discovery_report:
    input:
        "results/discover/{extent}/discovery.duckdb",
    output:
        "results/.built/discover/{extent}/index.html",
    log:
        "results/logs/discover/{extent}-report.log",
    wildcard_constraints:
        extent="default|full",
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=30,
        settings=RUN.settings_file("discover"),
    params:
        seed=RUN.config.seed,
        place=lambda wildcards, output: RUN.place_of(output[0]),
        code=lambda wildcards: RUN.code("discover_report"),
    shell:
        "benchc --log {log} discover report --database {input}"
        " --settings {resources.settings:q}"
        " --seed {params.seed} --out {output} --place {params.place:q}"
