import { Body, Controller, Get, Patch } from '@nestjs/common';
import { sessionDefaultsChange, type SessionDefaults } from '@belay/protocol';
import { createZodDto } from 'nestjs-zod';
import { SettingsStore } from '../settings/settings.store.js';

class SettingsBody extends createZodDto(sessionDefaultsChange) {}

/** What counts for all sessions to come; a viewer may read it. */
@Controller('api/settings')
export class SettingsController {
  constructor(private readonly settings: SettingsStore) {}

  @Get()
  read(): Promise<SessionDefaults> {
    return this.settings.read();
  }

  @Patch()
  change(@Body() body: SettingsBody): Promise<SessionDefaults> {
    return this.settings.change(body);
  }
}
