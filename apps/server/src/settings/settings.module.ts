import { Module } from '@nestjs/common';
import { SettingsStore } from './settings.store.js';
import { TemplatesStore } from './templates.store.js';

@Module({ providers: [SettingsStore, TemplatesStore], exports: [SettingsStore, TemplatesStore] })
export class SettingsModule {}
