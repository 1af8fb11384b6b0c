{ printf '\357\273\277' && cat model/config.json; } >marked && mv marked model/config.json
