#!/bin/sh
# Generates the Python package belay_client into a new folder.
set -eu
folder=${1:?Say which folder to create, such as belay-client.}
: "${BELAY_URL:?Set it to the address of your server.}" "${BELAY_TOKEN:?Set it to a token of your server.}"
if [ -e "$folder" ]; then
  echo "$folder exists already. Remove it, or choose another folder." >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install -q openapi-python-client==0.29.1
BELAY_OUTPUT="$work/openapi.json" "$work/python/bin/python" - <<'PYTHON'
import os
import urllib.request

# Not with curl, whose arguments every user of the machine can read.
request = urllib.request.Request(
    os.environ["BELAY_URL"] + "/openapi.json",
    headers={"Authorization": "Bearer " + os.environ["BELAY_TOKEN"]},
)
with urllib.request.urlopen(request) as response, open(os.environ["BELAY_OUTPUT"], "wb") as file:
    file.write(response.read())
PYTHON
cat > "$work/config.yaml" <<'YAML'
project_name_override: belay-client
package_name_override: belay_client
post_hooks: []
YAML
"$work/python/bin/openapi-python-client" generate --path "$work/openapi.json" \
  --config "$work/config.yaml" --output-path "$folder"
