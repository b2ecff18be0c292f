import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./telemetry.attacks.spec.js'));
