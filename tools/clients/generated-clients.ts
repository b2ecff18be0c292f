import { join } from 'node:path';

/** Where a client is made: the document of the server, a folder of its own, and the tools that were installed. */
export interface Place {
  document: string;
  folder: string;
  /** The folder of the Python environment with the generators. */
  python: string;
}

export interface GeneratedClient {
  /** Programs that this machine must have, each with the argument that prints its version. */
  needs: Record<string, string>;
  /** The program that uses the client, in `programs`, and its place in the folder. */
  program: [from: string, to: string];
  /** Other files of the folder, by their paths. */
  files?: Record<string, string>;
  /** Commands in the folder, in order: they generate and build the client, and the last one runs the program. */
  commands: (place: Place) => string[][];
}

const versions = {
  oapiCodegen: 'v2.8.2',
  orval: '7.13.2',
  typescript: '5.9.3',
  node: '24.10.1',
};

/** The words of a command, none of which contains a space. */
export const words = (line: string): string[] => line.split(' ');

/** The generators that are Python packages; one of them brings the program in Java. */
export const pythonTools = words(
  'openapi-generator-cli==7.17.0 openapi-python-client==0.29.1 schemathesis==4.32.5',
);

const generator = (
  { document, python }: Place,
  name: string,
  properties: Record<string, string> = {},
): string[] => [
  join(python, 'bin/openapi-generator-cli'),
  ...words(`generate -g ${name} -o client`),
  ...Object.entries(properties).flatMap(([key, value]) => ['-p', `${key}=${value}`]),
  '-i',
  document,
];

const typescript = [`typescript@${versions.typescript}`, `@types/node@${versions.node}`];
const compile = words('npx tsc --strict --skipLibCheck --module commonjs --target es2022');
const npmFolder = { 'package.json': '{ "private": true, "type": "commonjs" }\n' };
/** The document is beside the client's folder; the address of the server comes from it. */
const orvalSettings = `module.exports = {
  belay: {
    input: '../openapi.json',
    output: { target: 'client.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } },
  },
};
`;
const npmInstall = (...packages: string[]): string[] => [
  ...words('npm install --silent --no-audit --no-fund --no-save'),
  ...packages,
];

/** The clients that are generated, built and used, by name. */
export const generatedClients: Record<string, GeneratedClient> = {
  python: {
    needs: { python3: '--version', java: '-version' },
    program: ['drive.py', 'drive.py'],
    commands: (place) => [
      generator(place, 'python', { packageName: 'belay_client' }),
      [join(place.python, 'bin/pip'), 'install', '-q', '--target', 'packages', './client'],
      ['env', 'PYTHONPATH=packages', join(place.python, 'bin/python'), 'drive.py'],
    ],
  },
  'openapi-python-client': {
    needs: { python3: '--version' },
    program: ['drive_typed.py', 'drive_typed.py'],
    files: {
      'config.yaml':
        'package_name_override: belay_client\nproject_name_override: belay-client\npost_hooks: []\n',
    },
    commands: ({ document, python }) => [
      [
        join(python, 'bin/openapi-python-client'),
        'generate',
        '--path',
        document,
        ...words('--config config.yaml --output-path client'),
      ],
      ['env', 'PYTHONPATH=client', join(python, 'bin/python'), 'drive_typed.py'],
    ],
  },
  go: {
    needs: { go: 'version', java: '-version' },
    program: ['drive.go', 'client/cmd/drive/main.go'],
    commands: (place) => [
      [
        ...generator(place, 'go', { packageName: 'client', withGoMod: 'false' }),
        ...words('--global-property apiTests=false,modelTests=false,apis,models,supportingFiles'),
      ],
      words('go -C client mod init belay.test/client'),
      words('go -C client mod tidy'),
      words('go -C client run ./cmd/drive'),
    ],
  },
  'oapi-codegen': {
    needs: { go: 'version' },
    program: ['drive_oapi.go', 'main.go'],
    files: { 'go.mod': 'module belay.test/oapi\n\ngo 1.24\n', 'client/doc.go': 'package client\n' },
    commands: ({ document }) => [
      [
        ...words(
          `go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${versions.oapiCodegen} -package client -generate types,client -o client/client.go`,
        ),
        document,
      ],
      ['go', 'mod', 'tidy'],
      ['go', 'run', '.'],
    ],
  },
  java: {
    needs: { java: '-version', mvn: '--version', python3: '--version' },
    program: ['Drive.java', 'client/src/main/java/Drive.java'],
    commands: (place) => [
      generator(place, 'java', {
        library: 'native',
        invokerPackage: 'test.belay',
        apiPackage: 'test.belay.api',
        modelPackage: 'test.belay.model',
      }),
      words(
        'mvn -q -B -f client/pom.xml -Dmaven.test.skip=true compile org.codehaus.mojo:exec-maven-plugin:3.5.0:java -Dexec.mainClass=Drive',
      ),
    ],
  },
  rust: {
    needs: { cargo: '--version', java: '-version', python3: '--version' },
    program: ['drive.rs', 'client/examples/drive.rs'],
    commands: (place) => [
      generator(place, 'rust', { packageName: 'belay_client' }),
      words(
        'cargo add -q --manifest-path client/Cargo.toml --dev tokio --features macros,rt-multi-thread',
      ),
      words('cargo run -q --manifest-path client/Cargo.toml --example drive'),
    ],
  },
  'typescript-fetch': {
    needs: { npm: '--version', java: '-version', python3: '--version' },
    program: ['drive-fetch.ts', 'drive.ts'],
    files: npmFolder,
    commands: (place) => [
      generator(place, 'typescript-fetch'),
      npmInstall(...typescript),
      [...compile, 'drive.ts'],
      ['node', 'drive.js'],
    ],
  },
  orval: {
    needs: { npm: '--version' },
    program: ['drive-orval.ts', 'drive.ts'],
    files: { ...npmFolder, 'orval.config.js': orvalSettings },
    commands: () => [
      npmInstall(`orval@${versions.orval}`, ...typescript),
      ['npx', 'orval'],
      [...compile, 'drive.ts'],
      ['node', 'drive.js'],
    ],
  },
};
