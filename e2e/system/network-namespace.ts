import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { docker, prepared } from '@belay/testkit';
import type { Container, Network } from 'dockerode';

const run = promisify(execFile);

/**
 * A network namespace of Linux with one link to this machine, which can be cut: its packets are dropped then, without an
 * error for anybody. Docker makes both; nsenter, of util-linux, and iptables, which Docker needs, do the rest.
 */
export class NetworkNamespace {
  static async make(): Promise<NetworkNamespace> {
    const name = `belay-namespace-${crypto.randomUUID()}`;
    const network = await docker.createNetwork({ Name: name, Internal: true });
    const container = await docker.createContainer({
      name,
      Image: prepared('BELAY_TEST_IMAGE'),
      Entrypoint: ['sleep', 'infinity'],
      HostConfig: { NetworkMode: name, Init: true },
    });
    await container.start();
    const { State, NetworkSettings } = await container.inspect();
    const link = NetworkSettings.Networks[name];
    if (!link) throw new Error('The container has no network.');
    const { IPAddress: address, Gateway } = link;
    const { IPAM } = (await network.inspect()) as { IPAM: { Config: { Gateway?: string }[] } };
    const machine = Gateway || IPAM.Config[0]?.Gateway || '';
    return new NetworkNamespace(container, network, { address, machine, pid: State.Pid });
  }

  /** Its address, and the one at which it reaches this machine. */
  readonly address: string;
  readonly machine: string;
  /** Runs the command that follows inside, with the files and processes of this machine. */
  readonly enter: readonly string[];

  private constructor(
    private readonly container: Container,
    private readonly network: Network,
    { address, machine, pid }: { address: string; machine: string; pid: number },
  ) {
    this.address = address;
    this.machine = machine;
    this.enter = ['nsenter', `--net=/proc/${pid}/ns/net`];
  }

  /** From now on nothing gets in or out, but for connections to this port of the machine. */
  async cut({ except }: { except?: number } = {}): Promise<void> {
    const unless = (option: string) => (except === undefined ? '' : `! ${option} ${except}`);
    await this.#filter(`-I INPUT ! -i lo -p tcp ${unless('--sport')} -j DROP`);
    await this.#filter(`-I OUTPUT ! -o lo -p tcp ${unless('--dport')} -j DROP`);
  }

  /** Undoes `cut`. */
  async restore(): Promise<void> {
    await this.#filter('-F');
  }

  async dispose(): Promise<void> {
    await this.container.remove({ force: true });
    await this.network.remove();
  }

  async #filter(rule: string): Promise<void> {
    const [command = '', ...enter] = this.enter;
    await run(command, [...enter, 'iptables', '-w', ...rule.split(/ +/)]);
  }
}
