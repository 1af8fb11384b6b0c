echo '{}' >>model/config.json
