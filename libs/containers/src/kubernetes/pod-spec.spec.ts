import type { ProgramSpec } from '../container-host.js';
import { browserAddress } from './pod-browser.js';
import type { PodPlace } from './pod-parts.js';
import type { PodImages } from './pod-images.js';
import { agentPod, programPod } from './pod-spec.js';
import { playedSpec } from './testing/played-spec.js';

const place: PodPlace = {
  instance: 'abc',
  labels: {},
  runtimeImage: 'runtime:1',
  address: 'wss://192.0.2.1:4601',
  trusted: 'PEM',
  tokenHash: 'hash',
  podFilesMb: null,
  browser: { image: 'sandbox:1', limits: { memoryMb: 1024, cpus: 1 } },
  isConfined: true,
  scheduling: {},
};
/** Of another image than the one with a browser. */
const spec = { ...playedSpec, image: 'other:1' };

describe('the pod of an agent', () => {
  const volumeOf = (more: Partial<PodPlace>) =>
    agentPod(spec, { ...place, ...more }).spec?.volumes?.find(({ name }) => name === 'files');
  const containersOf = (image: string, more: Partial<PodPlace> = {}) =>
    agentPod({ ...spec, image }, { ...place, ...more }).spec?.containers ?? [];

  it('has its files in a claim, or in itself up to their size and with as much more of the disk', () => {
    expect(volumeOf({})).toMatchObject({
      persistentVolumeClaim: { claimName: 'belay-abc-files-files' },
    });
    expect(volumeOf({ podFilesMb: 64 })).toEqual({
      name: 'files',
      emptyDir: { sizeLimit: '64Mi' },
    });
    const diskOf = (podFilesMb: number | null) =>
      containersOf('sandbox:1', { podFilesMb })[0]?.resources?.limits?.['ephemeral-storage'];
    expect([diskOf(null), diskOf(64)]).toEqual(['10240Mi', '10304Mi']);
  });

  it('has a browser beside it unless its image is the one with a browser', () => {
    expect(containersOf('sandbox:1').map(({ name }) => name)).toEqual(['first']);
    expect(containersOf('other:1', { browser: null }).map(({ name }) => name)).toEqual(['first']);
    const pod = agentPod(spec, place);
    const [browser, first] = pod.spec?.containers ?? [];
    expect(browser).toMatchObject({ name: 'browser', image: 'sandbox:1' });
    expect(browserAddress(pod)).toMatch(/^http:\/\/127\.0\.0\.1:4\d{4}$/);
    const pipe = first?.volumeMounts?.find(({ mountPath }) => mountPath === '/run/browser');
    expect(pipe?.readOnly).toBe(true);
    pod.status = { containerStatuses: [ended('browser')] };
    expect(browserAddress(pod)).toBeUndefined();
    expect(browserAddress(agentPod({ ...spec, image: 'sandbox:1' }, place))).toBeUndefined();
  });

  it('does not wait long for a node that is away', () => {
    const { tolerations } = agentPod(spec, place).spec ?? {};
    expect(tolerations).toEqual(
      ['not-ready', 'unreachable'].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 30,
      })),
    );
  });

  it('attack: gives the browser neither the token nor any right', () => {
    const [browser, first] = containersOf('other:1');
    const mountsOf = (of: typeof first) => of?.volumeMounts?.map(({ name }) => name);
    expect(mountsOf(first)).toContain('connection');
    expect(mountsOf(browser)).not.toContain('connection');
    expect(browser?.securityContext).toMatchObject({
      runAsUser: 1000,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: [] },
    });
  });
});

describe('the pod of programs in an image that was made', () => {
  const program: ProgramSpec = {
    id: '0123456789ab',
    label: 'action',
    labels: {},
    image: 'made',
    rights: 'program',
    user: 1000,
    limits: { memoryMb: 64, cpus: 1 },
    scratch: [],
    workspace: null,
    folders: [],
    services: [
      {
        name: 'own',
        image: 'made',
        command: ['serve'],
        env: {},
        limits: { memoryMb: 64, cpus: 1 },
      },
    ],
    archive: null,
    writtenMb: 8,
  };
  const made = {
    base: 'debian:12',
    layers: { places: [0], mb: 32, entrypoint: ['/usr/bin/env'], user: '1000:1000' },
  };
  const layer = () => Promise.reject(new Error('not read'));
  const images: PodImages = { first: made, services: [made], layers: [layer] };
  const podWith = (more: Partial<ProgramSpec> = {}) =>
    programPod({ ...program, ...more }, place, { images }).spec;
  /** What a container unpacks, and what runs after that. */
  const unpacks = (command: string[] = []) => JSON.parse(command.at(-1) ?? '') as object;

  it('unpacks its layer over the base, in the service as well, and then runs what it is for', () => {
    const [service, first] = podWith()?.containers ?? [];
    const layers = ['/opt/belay/layers/0'];
    expect([first?.image, service?.image]).toEqual(['debian:12', 'debian:12']);
    const starter = expect.arrayContaining(['/opt/belay/contained.cjs']) as string[];
    expect(unpacks(first?.command)).toEqual({ layers, maxMb: 32, user: null, command: starter });
    const command = ['/usr/bin/env', 'serve'];
    expect(unpacks(service?.command)).toEqual({ layers, maxMb: 32, user: 1000, command });
    const [prepare] = podWith()?.initContainers ?? [];
    expect(unpacks(prepare?.command)).toMatchObject({ layers: { count: 1 } });
    const diskOf = (of: typeof first) => of?.resources?.limits?.['ephemeral-storage'];
    expect([first, service, prepare].map(diskOf)).toEqual(['40Mi', '40Mi', '624Mi']);
  });

  it('attack: gives programs that are root no right with which it unpacks', () => {
    const rightsOf = (of: ReturnType<typeof podWith>) => of?.containers.at(-1)?.securityContext;
    expect(rightsOf(podWith())?.capabilities?.add).toContain('CHOWN');
    expect(rightsOf(podWith({ user: 0 }))?.capabilities?.add).toEqual([]);
    const plain = programPod(program, place).spec;
    expect(rightsOf(plain)).toMatchObject({
      readOnlyRootFilesystem: true,
      capabilities: { add: ['SETGID', 'SETUID'] },
    });
  });

  it('attack: shows its token to no service', () => {
    const [service, first] = podWith()?.containers ?? [];
    const mountsOf = (of: typeof first) => of?.volumeMounts?.map(({ name }) => name);
    expect(mountsOf(first)).toContain('connection');
    expect(mountsOf(service)).toEqual(['runtime']);
  });
});

const ended = (name: string) => ({
  name,
  image: 'sandbox:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode: 127 } },
});
