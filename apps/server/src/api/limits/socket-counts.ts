import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { may, type Caller } from '../../access/caller.js';

/** Sockets of all paths together. */
const maxAll = 2_000;
/** Those of callers that only watch, so that they leave places to those who work. */
const maxOfViewers = 1_000;
/** Those of one caller: all tabs, editors and programs with one token, or all viewers with one link. */
const maxOfCaller = 500;
/** Those of one address whose caller is not known yet, which lasts a few seconds. */
const maxOfStranger = 20;
const maxOfStrangers = 200;

/** Who opened a socket: the caller may introduce itself later. */
export interface SocketOpener {
  caller?: Caller | undefined;
  address: string | undefined;
}

/** A place among the open sockets. */
export interface SocketPlace {
  /** Counts the socket for its caller. Throws `limit_reached`. */
  admit(caller: Caller): void;
  leave(): void;
}

/** Counts the open sockets of all paths and bounds them. */
@Injectable()
export class SocketCounts {
  readonly #open = new Set<SocketOpener>();

  /** Throws `limit_reached`. */
  enter({ caller, address }: SocketOpener): SocketPlace {
    const place: SocketOpener = { address };
    if (this.#open.size >= maxAll) throw tooManySockets();
    if (caller) this.#assign(place, caller);
    else this.#assertFewStrangers(address);
    this.#open.add(place);
    return {
      admit: (known) => this.#assign(place, known),
      leave: () => void this.#open.delete(place),
    };
  }

  #assign(place: SocketOpener, caller: Caller): void {
    const isViewer = !may(caller, 'operate');
    if (this.#count((one) => one.caller?.id === caller.id) >= maxOfCaller) throw tooManySockets();
    const viewers = () => this.#count((one) => one.caller && !may(one.caller, 'operate'));
    if (isViewer && viewers() >= maxOfViewers) throw tooManySockets();
    place.caller = caller;
  }

  #assertFewStrangers(address: string | undefined): void {
    const strangers = this.#count((one) => !one.caller);
    const own = this.#count((one) => !one.caller && one.address === address);
    if (strangers >= maxOfStrangers || own >= maxOfStranger) throw tooManySockets();
  }

  #count(fits: (one: SocketOpener) => boolean | undefined): number {
    return [...this.#open].filter(fits).length;
  }
}

const tooManySockets = (): AppError =>
  new AppError('limit_reached', 'Too many sockets are open. Close some first.');
