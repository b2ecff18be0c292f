import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';

/** One clock for all automations, so that tests skip the time of all of them. */
@Global()
@Module({ providers: [Clock], exports: [Clock] })
export class ClockModule {}
