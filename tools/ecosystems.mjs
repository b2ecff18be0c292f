import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ownAddress, privateCertificate, setUp } from './ecosystems/private-host.mjs';
import { startRegistries, word } from './ecosystems/registries.mjs';
import { Docker } from './prepare/docker-api.mjs';
import { hostSettings } from './prepare/host-settings.mjs';
import { prepareEcosystemsImage } from './prepare/images.mjs';
import { inProductNode, prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { tar } from './prepare/tar.mjs';
import { isRecent, productEnvironment } from './product-node.mjs';

// npm run test:ecosystems: pip, cargo and go install from private registries by the proxy, as on a host that is set up
// with them and with a private CA. Long, for cargo and go are large: not a part of npm test.
const installs = {
  pip: `pip install --quiet --target packages belay-demo && PYTHONPATH=packages python3 -c 'import belay_demo; print(belay_demo.word)'`,
  // Debian's cargo knows sparse registries, and wants to be told that they may be used.
  cargo: `cd rust && RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry run --quiet`,
  go: `cd go && export GOPATH=/tmp/go GOFLAGS=-mod=mod && go get example.org/demo@v1.0.0 && go run .`,
};

/** A small program for each of cargo and go that prints what its package says. */
const projects = [
  {
    path: 'rust/Cargo.toml',
    content:
      '[package]\nname = "program"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nbelay-demo = "1"\n',
  },
  {
    path: 'rust/src/main.rs',
    content: 'fn main() { println!("{}", belay_demo::word()); }\n',
  },
  { path: 'go/go.mod', content: 'module program\n\ngo 1.19\n' },
  {
    path: 'go/main.go',
    content:
      'package main\n\nimport (\n\t"fmt"\n\n\t"example.org/demo"\n)\n\nfunc main() { fmt.Println(demo.Word) }\n',
  },
];

await runCommand(async () => {
  if (!isRecent(process.version)) return inProductNode(import.meta.url);
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  const root = mkdtempSync(join(tmpdir(), 'belay-ecosystems-'));
  try {
    return await onPrivateHost(root, environment);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

async function onPrivateHost(root, environment) {
  const address = ownAddress();
  const registries = await startRegistries({
    host: address,
    ...(await privateCertificate(root, address)),
  });
  const docker = new Docker(environment.DOCKER_HOST);
  setUp(root, registries.url);
  const settings = hostSettings({ env: {}, home: '/home', at: root });
  const image = await step('image with cargo and go', (say) =>
    prepareEcosystemsImage(docker, { settings, base: environment.BELAY_IMAGE }, say),
  );
  try {
    return await installAll({ registries, image, home: join(root, 'home') });
  } finally {
    await docker.remove(`/images/${image}?force=1`);
    await registries.close();
  }
}

async function installAll({ registries, image, home }) {
  const require = createRequire(import.meta.url);
  const { BelayServer, Followed, script } = require('../libs/testkit');
  const server = new BelayServer({ HOME: home, BELAY_LOG_LEVEL: 'warn' });
  await server.start();
  let failed = 0;
  try {
    const archive = await buffer(Readable.from(tar(projects)));
    const { workspace } = await server.client.uploadWorkspace(archive);
    for (const [name, command] of Object.entries(installs)) {
      const model = script(server.data, [
        { calls: [{ operation: 'terminal.run', input: { command, wait: 120 } }] },
        { expect: word, finish: 'installed' },
      ]);
      const settings = { task: name, model, image, workspace, approvals: 'auto' };
      const { id } = await server.client.sessions.create(settings);
      const session = new Followed(server, id);
      await step(`${name} through the proxy`, async () => {
        await session.finished();
        const asked = registries.asked.filter((path) => path.startsWith(`/${name}/`));
        if (asked.length === 0) throw new Error(`The registry of ${name} was not asked.`);
      }).catch((error) => {
        failed++;
        console.error(error.message);
      });
      session.close();
    }
  } finally {
    await server.dispose();
  }
  return failed === 0 ? 0 : 1;
}
