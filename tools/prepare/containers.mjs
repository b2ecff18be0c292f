// What `belay join --container` needs of its machine: an engine that runs, the agent’s runtime, and the sandbox’s image
// unless another is given. Prints one line of JSON, with `error` when there is something for the user to do.
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
