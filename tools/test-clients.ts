import { parseArgs } from 'node:util';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment } from './product-node.mjs';
import { generatedClients } from './clients/generated-clients.ts';

const names = [...Object.keys(generatedClients), 'schemathesis'];

const usage = `Usage: npm run test:clients [-- NAMES… --url URL --cases N]

  Generates a client from the server's OpenAPI document with each generator, builds it, and lists, starts and follows
  sessions with it; then has schemathesis send requests of all kinds. Names: ${names.join(', ')}; without names: all.
  It uses a new server, or that at --url with the token in BELAY_TOKEN. --cases is the least number of requests of
  schemathesis (5000). It needs the package registries of the languages, and a missing program is a failure.`;

// Not a part of npm test, because it needs toolchains and registries and takes minutes.
await runCommand(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      url: { type: 'string' },
      cases: { type: 'string', default: '5000' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const unknown = positionals.find((name) => !names.includes(name));
  const cases = Number(values.cases);
  if (unknown !== undefined) throw new Instruction(`There is no client ${unknown}.\n\n${usage}`);
  if (!(cases > 0)) throw new Instruction(`--cases must be a number.\n\n${usage}`);
  const chosen = positionals.length > 0 ? positionals : names;
  const { BELAY_TOKEN: token } = process.env;
  if (values.url !== undefined && !token)
    throw new Instruction('Set BELAY_TOKEN to a token of the server at --url.');
  const given = values.url && token ? { url: values.url, token } : undefined;
  if (!given) Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  // Imported here because it needs the built product.
  const { testClients } = await import('./clients/test-clients.ts');
  return testClients(chosen, { given, cases });
});
