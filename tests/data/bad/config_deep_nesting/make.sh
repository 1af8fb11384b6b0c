{ printf '{"model_type": "llama", "deep": ' && head -c 100000 /dev/zero | tr '\000' '['; } >model/config.json
