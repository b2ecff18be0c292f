/**
 * The command of a container with a headless Chromium, whose DevTools listen on its loopback: at a free port for 0. With
 * `startAt`, the path of a named pipe that it makes, Chromium starts whenever somebody writes a line there while it does
 * not run; the image then also needs mkfifo.
 */
export function browserCommand(port: number, startAt?: string): string[] {
  const find = 'for name in chromium chromium-browser google-chrome headless-shell; do';
  const start = `${find} command -v $name >/dev/null && exec $name "$@"; done; exit 127`;
  const program =
    startAt === undefined
      ? start
      : `mkfifo -m 600 ${startAt} && while :; do read -r _ <${startAt}; (${start}); [ $? != 127 ] || exit 127; done`;
  return [
    '/bin/sh',
    '-c',
    program,
    'chromium',
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--user-data-dir=/tmp/profile',
    '--remote-debugging-address=127.0.0.1',
    `--remote-debugging-port=${port}`,
    'about:blank',
  ];
}
