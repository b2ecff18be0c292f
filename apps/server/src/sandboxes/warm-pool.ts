import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../config.js';
import { ContainerLauncher, type Launch } from './container-launcher.js';
import type { Sandbox } from './sandbox.js';

/** Milliseconds between looks whether the machine is free to refill, and after a failure. */
const pace = { busy: 250, failed: 10_000 };

type Wish = Pick<Launch, 'image' | 'profile'>;
/** What most sessions ask for. */
const usual = 'hardened';

/** A few sandboxes of the default image whose agents wait for a session: to give one away costs a message. */
@Injectable()
export class WarmPool {
  private readonly logger = new Logger(WarmPool.name);
  private readonly idle: Sandbox[] = [];
  private filling: Promise<void> | undefined;
  private readonly closing = new AbortController();
  private failed = '';
  /** Hears of each sandbox before anything can happen to it. */
  born: (sandbox: Sandbox) => void = () => {};

  constructor(
    private readonly config: Config,
    private readonly launcher: ContainerLauncher,
  ) {}

  get size(): number {
    return this.idle.length;
  }

  /** A sandbox whose agent waits, if there is one of this image and profile. */
  claim({ image, profile }: Wish): Sandbox | undefined {
    if (image !== this.config.image || profile !== usual) return undefined;
    const sandbox = this.idle.shift();
    this.refill();
    return sandbox;
  }

  /** Takes a sandbox out that died. */
  drop(sandbox: Sandbox): void {
    const place = this.idle.indexOf(sandbox);
    if (place >= 0) this.idle.splice(place, 1);
    this.refill();
  }

  /** Fills the pool up, one by one and only while nothing else is being started. */
  refill(): void {
    if (this.closing.signal.aborted || this.filling || this.idle.length >= this.config.pool) return;
    this.filling = this.fill().finally(() => {
      this.filling = undefined;
      if (this.idle.length < this.config.pool) this.refill();
    });
  }

  /** Ends those that wait. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.filling;
    await Promise.all(
      this.idle.splice(0).map((sandbox) => this.launcher.dispose(sandbox, { volumes: true })),
    );
  }

  private async fill(): Promise<void> {
    while (this.idle.length < this.config.pool && !this.closing.signal.aborted) {
      if (!(await this.pause(pace.busy))) return;
      if (this.launcher.busy > 0) continue;
      try {
        this.idle.push(
          await this.launcher.launch({ image: this.config.image, profile: usual }, this.born),
        );
        this.failed = '';
      } catch (error) {
        this.tell((error as Error).message);
        await this.pause(pace.failed);
      }
    }
  }

  /** Whether to go on afterwards. */
  private async pause(milliseconds: number): Promise<boolean> {
    const { signal } = this.closing;
    await delay(milliseconds, undefined, { signal, ref: false }).catch(() => {});
    return !signal.aborted;
  }

  /** The same failure again and again is said once. */
  private tell(failure: string): void {
    if (failure === this.failed || this.closing.signal.aborted) return;
    this.failed = failure;
    this.logger.warn(`No sandbox can be kept ready: ${failure}`);
  }
}
