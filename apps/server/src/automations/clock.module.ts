import { Global, Module } from '@nestjs/common';
import { AutomationCounts } from './automation-counts.js';
import { Clock } from './clock.js';

/** One clock for all automations, so that tests skip the time of all of them; and what is counted of all of them. */
@Global()
@Module({ providers: [AutomationCounts, Clock], exports: [AutomationCounts, Clock] })
export class ClockModule {}
