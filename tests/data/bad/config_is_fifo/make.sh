rm model/config.json && mkfifo model/config.json
