edit model/config.json '1s/.*/{ "fusion_config": [],/'
