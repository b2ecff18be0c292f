import { browserAddress } from './pod-browser.js';
import type { PodPlace } from './pod-parts.js';
import { agentPod } from './pod-spec.js';
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

const ended = (name: string) => ({
  name,
  image: 'sandbox:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode: 127 } },
});
