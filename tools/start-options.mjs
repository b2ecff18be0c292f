export const startUsage = `Usage: npm start -- [options]

  --port N       port on 127.0.0.1 (4600; 0 takes any that is free)
  --data DIR     folder of sessions, logs and the token (~/.local/share/belay)
  --no-open      do not open the dashboard in a browser
  --no-install   do not install or start a Docker Engine
  --help         this text`;

/** Reads the command line of `npm start`; answers with options, or with `error`, one sentence. */
export function parseStart(args, env = {}) {
  // Options without `--` before them npm takes for its own, and starts us without them.
  const taken = ['port', 'data', 'open', 'install'].find((name) => `npm_config_${name}` in env);
  if (taken) return { error: 'Put -- before the options, as in: npm start -- --port 5000' };
  const port = readPort(env.BELAY_PORT || '4600');
  const options = { port, data: undefined, open: true, install: true, help: false };
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = splitOnce(args[index], '=');
    const value = () => inline ?? args[++index];
    if (name === '--no-open') options.open = false;
    else if (name === '--no-install') options.install = false;
    else if (name === '--help' || name === '-h') options.help = true;
    else if (name === '--data') {
      options.data = value();
      if (!options.data) return { error: '--data needs a folder.' };
    } else if (name === '--port') {
      options.port = readPort(value());
      if (options.port === undefined) return { error: '--port needs a number from 0 to 65535.' };
    } else return { error: `There is no option ${name}; npm start -- --help lists them.` };
  }
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
