export const startUsage = `Usage: npm start -- [options]

  --port N       port on 127.0.0.1 (4600; 0 takes any that is free)
  --data DIR     folder of sessions, logs and the token (~/.local/share/belay)
  --no-open      do not open the dashboard in a browser
  --no-install   do not install or start a Docker Engine
  --tunnel ngrok make the server public through ngrok (NGROK_AUTHTOKEN), for ChatGPT
  --background F run without this terminal, with the log in file F; \`belay up\` uses it
  --help         this text

npm run dev takes the same, except --tunnel and --background, and

  --inspect[=PORT]  let a debugger attach to the server (9229)
  --no-types        do not check types after a change`;

/** Reads the command line of `npm start`; returns options, or `error`, one sentence. */
export function parseStart(args, env = {}) {
  // Without `--` before them npm reads the options as its own and does not pass them on.
  const taken = ['port', 'data', 'open', 'install', 'tunnel', 'inspect', 'types'].find(
    (name) => `npm_config_${name}` in env,
  );
  if (taken) return { error: 'Put -- before the options, as in: npm start -- --port 5000' };
  const port = readPort(env.BELAY_PORT || '4600');
  const options = {
    port,
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
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = splitOnce(args[index], '=');
    const value = () => inline ?? args[++index];
    if (name === '--no-open') options.open = false;
    else if (name === '--no-install') options.install = false;
    else if (name === '--help' || name === '-h') options.help = true;
    else if (name === '--data') {
      options.data = value();
      if (!options.data) return { error: '--data needs a folder.' };
    } else if (name === '--background') {
      options.background = value();
      if (!options.background) return { error: '--background needs a log file.' };
    } else if (name === '--tunnel') {
      options.tunnel = value();
      if (options.tunnel !== 'ngrok') return { error: '--tunnel takes ngrok.' };
    } else if (name === '--port') {
      options.port = readPort(value());
      if (options.port === undefined) return { error: '--port needs a number from 0 to 65535.' };
    } else if (name === '--dev') options.dev = true;
    else if (options.dev && name === '--no-types') options.types = false;
    else if (options.dev && name === '--inspect') {
      if (inline !== undefined && readPort(inline) === undefined)
        return { error: '--inspect takes a port: --inspect=9230.' };
      options.inspect = args[index];
    } else return { error: `There is no option ${name}; npm start -- --help lists them.` };
  }
  if (options.dev && (options.tunnel || options.background))
    return { error: 'npm run dev takes no --tunnel and no --background: use npm start.' };
  if (options.port === undefined)
    return { error: `BELAY_PORT is ${env.BELAY_PORT}: it must be a number from 0 to 65535.` };
  return options;
}

const readPort = (text = '') =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;

function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
