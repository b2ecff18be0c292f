import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { BelayServer, script, start } from '@belay/testkit';
import { step } from '../prepare/steps.mjs';
import { tar } from '../prepare/tar.mjs';
import { word, type Registries } from './registries.ts';

const installs = {
  pip: `pip install --quiet --target packages belay-demo && PYTHONPATH=packages python3 -c 'import belay_demo; print(belay_demo.word)'`,
  // Debian’s cargo supports sparse registries, but they must be enabled.
  cargo: `cd rust && RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry run --quiet`,
  go: `cd go && export GOPATH=/tmp/go GOFLAGS=-mod=mod && go get example.org/demo@v1.0.0 && go run .`,
};

/** Small programs for cargo and go that print the word of their package. */
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

/** Installs with each package manager in a sandbox of this image; resolves to the exit code. */
export async function installAll({
  registries,
  image,
  home,
}: {
  registries: Registries;
  image: string;
  home: string;
}): Promise<number> {
  const server = new BelayServer({ HOME: home, BELAY_LOG_LEVEL: 'warn' });
  await server.start();
  let failed = 0;
  try {
    const archive = await buffer(Readable.from(tar(projects)));
    const { workspace } = await server.client.uploads.workspace(archive);
    for (const [name, command] of Object.entries(installs)) {
      const model = script(server.data, [
        { calls: [{ operation: 'terminal.run', input: { command, wait: 120 } }] },
        { expect: word, finish: 'installed' },
      ]);
      const session = await start(server, { task: name, model, image, workspace });
      await step(`${name} through the proxy`, async () => {
        await session.finished();
        if (!registries.requested.some((path) => path.startsWith(`/${name}/`)))
          throw new Error(`The registry of ${name} received no request.`);
      }).catch((error: unknown) => {
        failed++;
        console.error(error);
      });
      session.close();
    }
  } finally {
    await server.dispose();
  }
  return failed === 0 ? 0 : 1;
}
