// Worker of the npm package closed-chain-ik under node: the same requests and replies as worker.py.
//
// Its package names no entry file for node, so its core is imported by path. Hinges that close a
// loop are a turning joint with the fixed closure behind it, as its examples do.

import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

const folder = `${process.env.PEER_FOLDER}/node_modules/closed-chain-ik`;
const { DOF, Goal, Joint, Link, Solver } = await import(`${folder}/src/core/index.js`);
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));

const MOTIONS = { revolute: [DOF.EX, DOF.EY, DOF.EZ], prismatic: [DOF.X, DOF.Y, DOF.Z] };
const POINT = 'X Y Z';
const HINGE = 'X Y Z EX EY';

function quaternion([roll, pitch, yaw]) {
  const [cr, cp, cy] = [roll, pitch, yaw].map((angle) => Math.cos(angle / 2));
  const [sr, sp, sy] = [roll, pitch, yaw].map((angle) => Math.sin(angle / 2));
  return [
    sr * cp * cy - cr * sp * sy,
    cr * sp * cy + sr * cp * sy,
    cr * cp * sy - sr * sp * cy,
    cr * cp * cy + sr * sp * sy,
  ];
}

function product([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

function turned([x, y, z, w], [px, py, pz]) {
  const [tx, ty, tz] = [2 * (y * pz - z * py), 2 * (z * px - x * pz), 2 * (x * py - y * px)];
  return [
    px + w * tx + y * tz - z * ty,
    py + w * ty + z * tx - x * tz,
    pz + w * tz + x * ty - y * tx,
  ];
}

// A joint whose value is given is one without freedom that is put where it belongs.
function put({ joint, xyz, place, axis, sliding }, value) {
  if (sliding) {
    const [x, y, z] = turned(place, axis.map((part) => part * value));
    joint.setPosition(xyz[0] + x, xyz[1] + y, xyz[2] + z);
  } else {
    const sine = Math.sin(value / 2);
    const half = [...axis.map((part) => part * sine), Math.cos(value / 2)];
    joint.setQuaternion(...product(place, half));
  }
}

function hang(parent, xyz, rpy, dof = []) {
  const joint = new Joint();
  const link = new Link();
  joint.setPosition(...xyz);
  joint.setQuaternion(...quaternion(rpy));
  joint.setDoF(...dof);
  parent.addChild(joint);
  joint.addChild(link);
  return { joint, link };
}

class Loop {
  constructor(task, tolerance, options) {
    const { mechanism, goals, driven_columns: driven } = task;
    const links = { base: new Link() };
    this.joints = [];
    for (const entry of mechanism.joints) {
      const dof = MOTIONS[entry.kind]?.[entry.axis.indexOf(1)];
      const held = dof !== undefined && driven.includes(this.joints.length);
      const free = dof === undefined || held ? [] : [dof];
      const { joint, link } = hang(links[entry.parent], entry.xyz, entry.rpy, free);
      links[entry.child] = link;
      if (free.length) {
        joint.setMinLimits(entry.lower ?? -Infinity);
        joint.setMaxLimits(entry.upper ?? Infinity);
        this.joints.push({ joint, dof });
      } else if (held) {
        const place = quaternion(entry.rpy);
        const sliding = entry.kind === 'prismatic';
        this.joints.push({ joint, held, xyz: entry.xyz, place, axis: entry.axis, sliding });
      }
    }
    this.pins = mechanism.loops.map((loop) => this.close(links, loop));
    this.goals = goals.map(([name, asked]) => {
      const goal = new Goal();
      if (asked === 'position') goal.setGoalDoF(DOF.X, DOF.Y, DOF.Z);
      goal.makeClosure(links[name]);
      return goal;
    });
    this.root = links.base;
    this.solver = new Solver([links.base, ...this.goals]);
    Object.assign(this.solver, {
      maxIterations: 100,
      stallThreshold: 1e-9,
      translationConvergeThreshold: tolerance,
      // It measures half an angle.
      rotationConvergeThreshold: 0.4 * tolerance,
      restPoseFactor: 0,
      ...options,
    });
    this.cases = task.starts.map((start, at) => {
      const q = [...start];
      driven.forEach((column, k) => { q[column] = task.driven_values[at][k]; });
      return { q, pins: this.pinsAt(start), targets: task.targets[at] };
    });
  }

  // Hinges and balls that close a loop are turning joints with a fixed closure behind them.
  close(links, loop) {
    const end = hang(links[loop.link_a], loop.xyz_a, loop.rpy_a).link;
    const above = hang(links[loop.link_b], loop.xyz_b, loop.rpy_b).link;
    const turns = { [HINGE]: [DOF.EZ], [POINT]: [DOF.EZ, DOF.EY, DOF.EX] }[loop.dof] ?? [];
    let last = above;
    const joints = turns.map((dof) => {
      const { joint, link } = hang(last, [0, 0, 0], [0, 0, 0], [dof]);
      last = link;
      return { joint, dof };
    });
    const closure = new Joint();
    last.addChild(closure);
    closure.makeClosure(end);
    return { joints, above, end };
  }

  // The angles of what closes the loops at a start, where they are closed.
  pinsAt(start) {
    this.place(start);
    this.root.updateMatrixWorld(true);
    return this.pins.map(({ above, end }) => {
      const [a, b] = [end.matrixWorld, above.matrixWorld];
      const dot = (i, j) => [0, 1, 2].reduce((sum, k) => sum + a[4 * i + k] * b[4 * j + k], 0);
      return [
        Math.atan2(dot(0, 1), dot(0, 0)),
        Math.asin(-Math.max(-1, Math.min(1, dot(0, 2)))),
        Math.atan2(dot(1, 2), dot(2, 2)),
      ];
    });
  }

  place(q) {
    for (let at = 0; at < q.length; at += 1) {
      const each = this.joints[at];
      if (each.held) put(each, q[at]);
      else each.joint.setDoFValue(each.dof, q[at]);
    }
  }

  solve({ q, pins, targets }) {
    this.place(q);
    for (let at = 0; at < pins.length; at += 1) {
      this.pins[at].joints.forEach(({ joint, dof }, k) => joint.setDoFValue(dof, pins[at][k]));
    }
    for (let at = 0; at < this.goals.length; at += 1) {
      const [x, y, z, a, b, c, d] = targets[at];
      this.goals[at].setPosition(x, y, z);
      this.goals[at].setQuaternion(a, b, c, d);
    }
    let claim = false;
    try {
      claim = this.solver.solve().every((status) => status === 0);
    } catch (error) {
      // It throws where all joints of a chain are at limits.
      if (!(error instanceof TypeError)) throw error;
    }
    const value = ({ joint, dof, held }, at) => (held ? q[at] : joint.getDoFValue(dof));
    return { q: this.joints.map(value), claim };
  }
}

function processTime() {
  const { user, system } = process.cpuUsage();
  return 1e-3 * (user + system);
}

// As in worker.py: of long calls also the processor time is taken.
function onePass(player, seconds) {
  const times = [];
  const answers = [];
  const ends = performance.now() + 1e3 * seconds;
  for (const each of player.cases) {
    const worked = player.long ? processTime() : 0;
    const begin = performance.now();
    const answer = player.solve(each);
    const end = performance.now();
    times.push(1e-3 * (player.long ? Math.min(end - begin, processTime() - worked) : end - begin));
    answers.push(answer);
    if (end > ends) break;
  }
  player.long = [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] > 1e-4;
  return {
    times,
    q: answers.map(({ q }) => q),
    iterations: answers.map(() => null),
    claims: answers.map(({ claim }) => claim),
  };
}

const players = [];

function reply(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

reply({ version });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    if (request.do === 'load') {
      players.push(new Loop(request.task, request.tolerance, request.options));
      reply({ seat: players.length - 1 });
    } else if (request.do === 'pass') {
      reply(onePass(players[request.seat], request.seconds));
    } else {
      players.length = 0;
      reply({});
    }
  } catch (error) {
    reply({ unfit: String(error.message).split('\n')[0] });
  }
}
