import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { docker, type BelayServer } from '@belay/testkit';

/** The resources of the server at one moment. */
export interface Sample {
  /** Since the load began. */
  seconds: number;
  /** Resident memory. */
  megabytes: number;
  descriptors: number;
  /** Descriptors that are sockets. */
  sockets: number;
  /** Containers of the server’s sessions, running or not. */
  containers: number;
}

export async function sampleOf(server: BelayServer, begun: number): Promise<Sample> {
  const seconds = (performance.now() - begun) / 1000;
  const open = descriptorsOf(server.pid);
  const filters = { label: [`belay.data=${server.data}`] };
  const containers = await docker.listContainers({ all: true, filters });
  return {
    seconds,
    megabytes: residentOf(server.pid),
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
    containers: containers.length,
  };
}

function residentOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // It has been closed meanwhile.
    }
  });
}
