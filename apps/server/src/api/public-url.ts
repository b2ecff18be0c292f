import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Config } from '../config.js';
import { baseUrlOf } from './base-url.js';

/** The server’s public address: configured, or given by a tunnel. */
@Injectable()
export class PublicUrl {
  #url: string | undefined;

  constructor(config: Config) {
    this.#url = config.publicUrl && new URL(config.publicUrl).origin;
  }

  /** Sets the address of a tunnel that leads here. */
  set(url: string): void {
    this.#url = new URL(url).origin;
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** The host’s name, which requests may use. */
  get host(): string | undefined {
    return this.#url && new URL(this.#url).hostname;
  }

  /** The origin to print in documents: the public one, otherwise that of this request. */
  origin(request: Pick<Request, 'protocol' | 'headers'>): string {
    return this.#url ?? baseUrlOf(request);
  }
}
