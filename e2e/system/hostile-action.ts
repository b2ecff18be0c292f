/** Attacks according to its first argument. */
export const hostile = `#!/bin/sh
case "$1" in
  hello) echo hello ;;
  inside) "$0" files; "$0" look; "$0" root; exit $? ;;
  forks) i=0; while [ $i -lt 900 ]; do sleep 30 & i=$((i+1)); done; wait ;;
  disk) dd if=/dev/zero of=/tmp/a bs=1M count=900; dd if=/dev/zero of=/output/b bs=1M count=900; df -m /tmp /output | tail -2; exit 7 ;;
  root) echo x > /action/run; echo x > /etc/passwd; echo x > /opt/belay/node; exit 8 ;;
  endless) yes belay ;;
  memory) tail /dev/zero ;;
  look) cat /proc/*/environ /proc/1/cmdline /run/belay/* 2>/dev/null | tr '\\0' '\\n'; ls -laR /workspace /run/belay 2>&1; env; id; mount ;;
  dial) wget -q -T 3 -O - http://127.0.0.1:$2/health; wget -q -T 3 -O - http://example.org/; exit 9 ;;
  files) cd /output; ln -s /etc/passwd link; mkfifo pipe; mkdir sub; echo deep > sub/x; echo a > '.hidden'
    echo b > "$(printf 'agnp\\342\\200\\256.exe')"; i=0; while [ $i -lt 60 ]; do echo $i > f$i; i=$((i+1)); done ;;
esac
`;
