import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./automations.e2e.js'));
