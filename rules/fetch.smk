# fetch: benchmarks and models from a hub or an address; the only rules that touch the network.
# What comes lies in results/fetch/NAME, where a stopped download goes on; the record is written last.


# Everything at once: for a machine with a network, before the rest runs on one without.
rule fetch_all:
    input:
        expand("results/fetch/{name}.json", name=RUN.fetches),


rule fetch:
    output:
        "results/fetch/{name}.json",
    log:
        "results/logs/fetch/{name}.log",
    wildcard_constraints:
        name=RUN.one_of(RUN.fetches),
    localrule: True
    conda:
        "../envs/benchc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=1440,
        # What is fetched has a name of its own; another address of it triggers nothing.
        spec=lambda wildcards: RUN.settings_file("fetch", wildcards.name),
    params:
        out=subpath(output[0], strip_suffix=".json"),
    shell:
        "benchc --log {log} fetch files --spec {resources.spec:q} --out {params.out}"
