# reference: the small models that the default run measures, trained on drawn scenes.
# Their checkpoints are in the repository; this makes them again from nothing.

REFERENCE_MODELS = ["llava", "qwen2vl", "paligemma", "idefics3"]


rule retrain_reference:
    input:
        expand("results/reference/{name}/config.json", name=REFERENCE_MODELS),
        "results/reference/clip/open_clip_config.json",
        "results/reference/questioner/config.json",


rule train_reference:
    output:
        "results/reference/{name}/config.json",
    log:
        "results/logs/reference/{name}.log",
    wildcard_constraints:
        name="|".join(REFERENCE_MODELS),
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 90 * attempt,
    shell:
        "benchc --log {log} reference train {wildcards.name}"
        " --out results/reference/{wildcards.name}"


rule train_clip:
    output:
        "results/reference/clip/open_clip_config.json",
    log:
        "results/logs/reference/clip.log",
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "benchc --log {log} reference train clip --out results/reference/clip"


rule teach_questioner:
    input:
        "results/reference/qwen2vl/config.json",
    output:
        "results/reference/questioner/config.json",
    log:
        "results/logs/reference/questioner.log",
    conda:
        "../envs/benchc.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=90,
    shell:
        "benchc --log {log} reference teach results/reference/qwen2vl"
        " --out results/reference/questioner"
