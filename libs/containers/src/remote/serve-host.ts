import type { IncomingMessage } from 'node:http';
import { AppError, errorFrom, type hostCalls, type hostServerCalls } from '@belay/protocol';
import { refuse, type RpcConnection, type RpcStream } from '@belay/rpc';
import type { ContainerHost, DialIn } from '../container-host.js';

/** The machine’s end of the connection over which a server uses its containers. */
export type HostConnection = RpcConnection<typeof hostCalls, typeof hostServerCalls>;

/** A first program has one connection, and briefly a second one. */
const maxDials = 4;

/** Lets the peer of a connection use a host of this machine. */
export function serveHost(connection: HostConnection, host: ContainerHost): void {
  const done = async (work: Promise<void>): Promise<Record<string, never>> => {
    await work;
    return {};
  };
  const { images, keptFiles } = host;
  connection.serve({
    'host.checks': async () => ({ checks: await host.checks() }),
    'host.start': (spec, { signal }) => done(host.start({ ...spec, folders: [] }, signal)),
    'host.start-program': ({ archive, services, ...spec }, { signal }) =>
      done(
        host.startProgram(
          {
            ...spec,
            folders: [],
            services: services.map((one) => ({ ...one, command: one.command ?? undefined })),
            archive: archive && Buffer.from(archive),
          },
          signal,
        ),
      ),
    'host.adopt': ({ id }) => done(host.adopt(id)),
    'host.look': ({ id }) => host.look(id),
    'host.rename': ({ id, label }) => done(host.rename(id, label)),
    'host.browser': async ({ id }) => ({ endpoint: await host.browser(id) }),
    'host.has-browser': async ({ id }) => ({ has: await host.hasBrowser(id) }),
    'host.remove': ({ id }) => done(host.remove(id)),
    'host.stored-files': async () => ({ files: await host.storedFiles() }),
    'host.remove-files': ({ files }) => done(host.removeFiles(files)),
    'host.image': async ({ image }) => ({ id: (await images.id(image)) ?? null }),
    'host.image-path': async ({ image, paths }) => ({
      path: (await images.firstPath(image, paths)) ?? null,
    }),
    'host.fetch-image': async ({ image }) => ({ fetched: await images.fetch(image) }),
    'host.make-image': async ({ id, ...image }) => ({ image: await images.make(id, image) }),
    'host.made-images': async () => ({ images: await images.made() }),
    'host.remove-image': ({ image }) => done(images.remove(image)),
    'host.release-image': async ({ name }) => ({ released: await images.release(name) }),
    'host.remove-kept': ({ name }) => done(keptFiles.remove(name)),
    'host.keep-only': ({ names }) => done(keptFiles.keepOnly(names)),
  });
  connection.accept('host.watch', async (_, stream) => void report(host, stream));
  connection.accept('host.fill', async ({ name }, stream) => {
    // The server learns by the end of the stream that they are stored.
    keptFiles.fill(name, stream).then(
      () => stream.end(),
      (error: unknown) => stream.destroy(errorFrom(error)),
    );
  });
  passDialsOn(connection, host);
}

async function report(host: ContainerHost, stream: RpcStream): Promise<void> {
  const left = new AbortController();
  stream.resume().once('close', () => left.abort());
  try {
    for await (const seen of host.watch(left.signal)) stream.write(`${JSON.stringify(seen)}\n`);
    stream.end();
  } catch (error) {
    stream.destroy(errorFrom(error));
  }
}

function passDialsOn(connection: HostConnection, host: ContainerHost): void {
  const dials = new Map<string, number>();
  const pass = async (id: string, { request, socket, head }: DialIn): Promise<void> => {
    const stream = await connection.open('host.dial', { id });
    const end = (): void => {
      socket.destroy();
      stream.destroy();
    };
    socket.once('close', end).once('error', end);
    stream.once('close', end);
    stream.write(requestText(request));
    if (head.length > 0) stream.write(head);
    socket.pipe(stream).pipe(socket);
    if (socket.destroyed) end();
  };
  host.onDial((id, dial) => {
    const count = dials.get(id) ?? 0;
    if (count >= maxDials)
      return refuse(dial.socket, new AppError('limit_reached', 'It is connected already.'));
    dials.set(id, count + 1);
    dial.socket.once('close', () => {
      const left = (dials.get(id) ?? 1) - 1;
      if (left > 0) dials.set(id, left);
      else dials.delete(id);
    });
    pass(id, dial).catch((error: unknown) => refuse(dial.socket, errorFrom(error)));
  });
}

/** The request as it came; the engine’s parser has read it once, and the server’s does again. */
function requestText({ method = 'GET', url = '/', rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
