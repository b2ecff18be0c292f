import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { AutomationsModule } from '../automations/automations.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { Telemetry } from './telemetry.js';

@Module({ imports: [ApiModule, AutomationsModule, SandboxesModule], providers: [Telemetry] })
export class TelemetryModule {}
