import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { Telemetry } from './telemetry.js';

@Module({ imports: [ApiModule, SandboxesModule], providers: [Telemetry] })
export class TelemetryModule {}
