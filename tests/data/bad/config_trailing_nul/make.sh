printf '\000' >>model/config.json
