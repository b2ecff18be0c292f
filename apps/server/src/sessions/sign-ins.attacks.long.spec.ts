import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./sign-ins.attacks.spec.js'));
