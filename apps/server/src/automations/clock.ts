import { Injectable } from '@nestjs/common';

/** The time and timers of automations, so that tests can skip time. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Runs the work once at a time, or at once if it has passed; returns what cancels it. It keeps no process alive. */
  at(time: Date, work: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      const left = time.getTime() - this.now().getTime();
      // Longer timers fire at once.
      timer = setTimeout(left > maxTimerMs ? wait : work, Math.min(Math.max(0, left), maxTimerMs));
      timer.unref();
    };
    wait();
    return () => clearTimeout(timer);
  }
}

const maxTimerMs = 2 ** 31 - 1;
