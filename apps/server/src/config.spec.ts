import { Config, hostEnvironment } from './config.js';

describe('the configuration', () => {
  it('is complete without any variable', () => {
    const config = new Config({});
    expect(config).toMatchObject({ host: '127.0.0.1', port: 4600, pool: 2, maxSandboxes: 20 });
    expect(config.sidecarImage).toBe(config.image);
  });

  it('takes an empty variable as unset', () => {
    const config = new Config({ BELAY_PORT: '', OPENAI_BASE_URL: '', BELAY_POOL: '' });
    expect(config).toMatchObject({
      port: 4600,
      pool: 2,
      providers: { openai: { url: undefined } },
    });
  });

  it.each([
    ['BELAY_PORT', 'http'],
    ['BELAY_PORT', '70000'],
    ['BELAY_MAX_SANDBOXES', '0'],
    ['BELAY_LOG_LEVEL', 'loud'],
    ['BELAY_OIDC_ADMIN', 'everyone'],
    ['BELAY_OIDC_CLIENT_ID', 'alone'],
    ['BELAY_CLOSED_NETWORKS', '203.0.113.0/24, nodes.test'],
    ['OPENAI_BASE_URL', 'not an address'],
    ['DOCKER_HOST', 'tcp://10.0.0.1:2375'],
    ['BELAY_PEER_URL', 'http://10.0.0.1:4610'],
    ['BELAY_PEER_URL', 'tcp://10.0.0.1'],
    // Without DATABASE_URL.
    ['BELAY_PEER_URL', 'tcp://10.0.0.1:4610'],
    ['BELAY_STORAGE', 'bucket'],
    ['BELAY_STORAGE', 's3://bucket/../other'],
  ])('names %s when it is %j', (name, value) => {
    expect(() => new Config({ [name]: value })).toThrow(name);
  });

  it('distinguishes data folders', () => {
    const [one, two] = ['/a', '/b'].map((folder) => new Config({ BELAY_DATA: folder }).instance);
    expect(one).not.toBe(two);
  });

  describe('of a bucket', () => {
    const key = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
    const amazon = { bucket: 'b-1.x', prefix: '', endpoint: undefined, region: undefined };

    it.each([
      [{}, undefined],
      [{ BELAY_STORAGE: 's3://b-1.x' }, { ...amazon, credentials: undefined }],
      [
        { BELAY_STORAGE: 's3://b-1.x/a/b/', AWS_REGION: 'eu-1', ...key, AWS_SESSION_TOKEN: 't' },
        {
          ...amazon,
          prefix: 'a/b',
          region: 'eu-1',
          credentials: { ...credentials, sessionToken: 't' },
        },
      ],
      [
        { BELAY_STORAGE: 's3://b-1.x/', AWS_ENDPOINT_URL: 'http://one:1', ...key },
        { ...amazon, endpoint: 'http://one:1', region: 'us-east-1', credentials },
      ],
      [
        {
          BELAY_STORAGE: 's3://b-1.x',
          AWS_ENDPOINT_URL: 'http://one:1',
          AWS_ENDPOINT_URL_S3: 'http://two:2',
        },
        { ...amazon, endpoint: 'http://two:2', region: 'us-east-1', credentials: undefined },
      ],
    ])('%j', (env: Record<string, string>, storage) => {
      expect(new Config(env).storage).toEqual(storage);
    });

    it('needs both parts of a key, and an address that is one', () => {
      const [BELAY_STORAGE, AWS_ENDPOINT_URL_S3] = ['s3://bucket', 'localhost:7070'];
      const half = { BELAY_STORAGE, AWS_ACCESS_KEY_ID: 'id' };
      expect(() => new Config(half)).toThrow('set both, or neither');
      expect(() => new Config({ BELAY_STORAGE, AWS_ENDPOINT_URL_S3 })).toThrow(
        'AWS_ENDPOINT_URL_S3: write an address',
      );
      // Without a bucket they are somebody else’s.
      expect(new Config({ AWS_ACCESS_KEY_ID: 'id', AWS_ENDPOINT_URL_S3 }).storage).toBeUndefined();
    });

    it('gives programs of the host not its key', () => {
      expect(hostEnvironment(new Config({ PATH: '/bin', ...key }))).toEqual({ PATH: '/bin' });
    });
  });

  describe('of telemetry', () => {
    const off = { traces: false, metrics: false, content: false };

    it.each([
      [{}, off],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, off],
      [{ OTEL_TRACES_EXPORTER: 'otlp' }, { ...off, traces: true }],
      [{ OTEL_METRICS_EXPORTER: 'prometheus,otlp' }, { ...off, metrics: true }],
      [{ OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_EXPORTER: 'none' }, off],
      [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'TRUE' }, off],
      [
        { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_and_event' },
        { ...off, content: true },
      ],
      [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY' }, off],
    ])('%j', (env: Record<string, string>, telemetry) => {
      expect(new Config(env).telemetry).toEqual(telemetry);
    });

    it('gives programs of the host neither the server’s exporters nor their keys', () => {
      const all = { PATH: '/bin', OTEL_EXPORTER_OTLP_HEADERS: 'key=secret', BELAY_PORT: '1' };
      expect(hostEnvironment(new Config(all))).toEqual({ PATH: '/bin' });
    });
  });

  it('distinguishes servers in containers by their volumes, for all have the same data folder', () => {
    const instances = ['one_sockets', 'two_sockets', undefined].map(
      (volume) => new Config({ BELAY_DATA: '/data', BELAY_SOCKET_VOLUME: volume }).instance,
    );
    expect(new Set(instances).size).toBe(3);
  });
});
