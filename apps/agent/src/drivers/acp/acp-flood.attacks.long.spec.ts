import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./acp-flood.attacks.spec.js'));
