export const startUsage = `Usage: npm start -- [options]

  --port N       port on 127.0.0.1 (default: 4600; 0 for any free port)
  --data DIR     folder for sessions, logs and the token (default: ~/.local/share/belay)
  --no-open      do not open the dashboard in a browser
  --no-install   do not install or start a Docker Engine
  --tunnel ngrok make the server public through ngrok (NGROK_AUTHTOKEN), for ChatGPT
  --background F run without this terminal and write the log to file F; \`belay up\` uses it
  --help         print this text

npm run dev takes the same options except --tunnel and --background, and also:

  --inspect[=PORT]  let a debugger attach to the server (default: 9229)
  --no-types        do not check types after a change`;

const flags = new Map([
  ['--no-open', { open: false }],
  ['--no-install', { install: false }],
  ['--help', { help: true }],
  ['-h', { help: true }],
  ['--dev', { dev: true }],
]);

/** Options with a value: the key for it, how it is read, and the error for an invalid value. */
const valued = new Map([
  ['--data', { key: 'data', read: (text) => text, error: '--data needs a folder.' }],
  [
    '--background',
    { key: 'background', read: (text) => text, error: '--background needs a log file.' },
  ],
  [
    '--tunnel',
    {
      key: 'tunnel',
      read: (text) => (text === 'ngrok' ? text : undefined),
      error: '--tunnel takes ngrok.',
    },
  ],
  ['--port', { key: 'port', read: readPort, error: '--port needs a number from 0 to 65535.' }],
]);

/** Parses the command line of `npm start`; returns options, or `error`, one sentence. */
export function parseStart(args, env = {}) {
  // Without `--` before them, npm takes the options as its own and does not pass them on.
  const taken = ['port', 'data', 'open', 'install', 'tunnel', 'inspect', 'types'].find(
    (name) => `npm_config_${name}` in env,
  );
  if (taken) return { error: 'Put -- before the options, as in: npm start -- --port 5000' };
  const options = {
    port: readPort(env.BELAY_PORT || '4600'),
    data: undefined,
    open: true,
    install: true,
    help: false,
    background: undefined,
    tunnel: undefined,
    dev: false,
    inspect: undefined,
    types: true,
  };
  const error = readArguments(args, options);
  if (error) return { error };
  if (options.dev && (options.tunnel || options.background))
    return { error: 'npm run dev does not take --tunnel or --background. Use npm start.' };
  if (options.port === undefined)
    return { error: `BELAY_PORT is ${env.BELAY_PORT}: it must be a number from 0 to 65535.` };
  return options;
}

/** Changes `options`; returns an error for a wrong argument. */
function readArguments(args, options) {
  const rest = args.values();
  for (const arg of rest) {
    const [name, inline] = splitOnce(arg, '=');
    const option = valued.get(name);
    if (option) {
      const value = option.read(inline ?? rest.next().value);
      if (value === undefined || value === '') return option.error;
      options[option.key] = value;
      continue;
    }
    const { error, ...found } = flags.get(name) ?? devFlag(options, arg);
    if (error) return error;
    Object.assign(options, found);
  }
}

/** Flags that only `npm run dev` accepts. */
function devFlag({ dev }, arg) {
  const [name, port] = splitOnce(arg, '=');
  if (dev && name === '--no-types') return { types: false };
  if (!dev || name !== '--inspect')
    return { error: `There is no option ${name}; npm start -- --help lists them.` };
  return port === undefined || readPort(port) !== undefined
    ? { inspect: arg }
    : { error: '--inspect takes a port: --inspect=9230.' };
}

function readPort(text = '') {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
