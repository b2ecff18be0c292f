// Prepares what `belay join --container` needs on its machine: a running engine, the agent’s
// runtime, and the sandbox’s image unless another is given. Prints one line of JSON, with `error`
// if the user has to do something.
import { prepareEngine } from './engine.mjs';
import { prepareRuntime, prepareSandboxImage } from './images.mjs';
import { Instruction } from './steps.mjs';

const given = process.argv[2];
const say = (what) => console.error(`· ${what}…`);

try {
  const docker = await prepareEngine(say, { install: false });
  const image = given ?? (await prepareSandboxImage(docker, say));
  const runtime = await prepareRuntime(docker, say);
  console.log(JSON.stringify({ dockerHost: docker.host, image, runtime }));
} catch (error) {
  if (!(error instanceof Instruction)) throw error;
  console.log(JSON.stringify({ error: error.message }));
}
