import { ContainerHost, type DialIn } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { refuse } from '@belay/rpc';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** Who takes the connections that containers dial. A container whose connections nobody takes is not used. */
@Injectable()
export class ContainerDials implements OnApplicationShutdown {
  readonly #takers = new Map<string, (dial: DialIn) => void>();

  constructor(private readonly host: ContainerHost) {
    this.follow(host);
  }

  /** Passes on what the containers of this host dial. */
  follow(host: ContainerHost): void {
    host.onDial((id, dial) => {
      const take = this.#takers.get(id);
      if (take) take(dial);
      else refuse(dial.socket, new AppError('unavailable', 'Nobody listens to this container.'));
    });
  }

  /** After those that use containers: they are told of their end over these connections. */
  async onApplicationShutdown(): Promise<void> {
    await this.host.close();
  }

  has(id: string): boolean {
    return this.#takers.has(id);
  }

  admit(id: string, take: (dial: DialIn) => void): void {
    this.#takers.set(id, take);
  }

  remove(id: string): void {
    this.#takers.delete(id);
  }
}
