#!/bin/bash
# Makes each Chrome in the image start without its own sandbox, which needs rights that this
# container withholds (SYS_ADMIN, or user namespaces). The container is the sandbox: it has no such
# rights, and only one verification.
for name in google-chrome google-chrome-stable chromium chromium-browser; do
  found=$(type -P "$name") && [ -w "$(dirname -- "$found")" ] || continue
  program=$(readlink -f -- "$found")
  if [ "$program" = "$found" ]; then
    program=$found.sandboxed
    mv -- "$found" "$program"
  else
    rm -- "$found"
  fi
  printf '#!/bin/bash\nexec %q --no-sandbox "$@"\n' "$program" >"$found"
  chmod 755 -- "$found"
done
