import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { isStorageRefusal } from './object-store.js';
import { S3Objects } from './s3-objects.js';

/** How the played bucket responds to what is asked next. */
let responds: { status: number; code?: string };
let server: Server;
let objects: S3Objects;
beforeAll(async () => {
  server = createServer((request, response) => {
    const { status, code } = responds;
    const listed = request.url?.includes('list-type') ? '<ListBucketResult/>' : '';
    const body = code === undefined ? listed : `<Error><Code>${code}</Code></Error>`;
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const config = {
    bucket: 'files',
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  };
  responds = { status: 200 };
  const others = async () => new Set<string>();
  objects = await S3Objects.open(config, { folder: tmpdir(), others });
});
afterAll(() => {
  objects.onApplicationShutdown();
  server.close();
});

it.each([
  [403, 'AccessDenied', true, 'does not admit this server (AccessDenied): set AWS_'],
  [403, 'InvalidAccessKeyId', true, 'does not admit this server (InvalidAccessKeyId): set AWS_'],
  [404, 'NoSuchBucket', true, 'There is no bucket files: create it'],
  [500, 'InternalError', false, 'cannot be used (InternalError'],
  [503, 'SlowDown', false, 'cannot be used (SlowDown'],
])('a response %i %s is told apart as a refusal: %s', async (status, code, refuses, sentence) => {
  responds = { status, code };
  const opened = objects.open('sandboxes/one.json');
  await expect(opened).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(sentence),
  });
  expect(isStorageRefusal(await opened.catch((error: unknown) => error))).toBe(refuses);
});

it('a bucket that cannot be reached refuses nothing', async () => {
  await new Promise((done) => server.close(done).closeAllConnections());
  const error = await objects.open('sandboxes/one.json').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(isStorageRefusal(error)).toBe(false);
});
