"""Tables as people have them, written by seeded generators: the census kind (no header, a blank behind each comma, ? for
gaps), the passengers kind (names with commas in quotes, ids, empty cells, tickets that are texts and numbers) and the
bank marketing kind (semicolons, quotes, decimal commas, dates). Each is (text of a file, columns, target)."""
import datetime

import numpy


def choose(random, levels, shares, rows):
    shares = numpy.array(shares, float)
    return random.choice(levels, rows, p=shares / shares.sum())


def effects(random, values, size):
    table = {level: random.normal(0, size) for level in sorted(set(values))}
    return numpy.array([table[value] for value in values])


def classes(random, score, share):
    score = score - numpy.quantile(score, 1 - share)
    return random.random(len(score)) < 1 / (1 + numpy.exp(-1.5 * score))


def gaps(random, values, share, gap):
    return [gap if lost else value for value, lost in zip(values, random.random(len(values)) < share)]


def census(seed, rows):
    random = numpy.random.default_rng(seed)
    world = numpy.random.default_rng(1)  # the effects of levels are the same for every seed
    countries = [f"Country-{i}" for i in range(40)]
    work = choose(random, ["Private", "Self-emp-inc", "State-gov", "Federal-gov", "Never-worked"], [70, 8, 12, 9, 1], rows)
    school = choose(random, ["HS-grad", "Bachelors", "Masters", "11th", "Doctorate", "Some-college"], [32, 17, 6, 5, 2, 22], rows)
    married = choose(random, ["Married-civ-spouse", "Never-married", "Divorced", "Widowed"], [46, 33, 14, 3], rows)
    job = choose(random, ["Sales", "Exec-managerial", "Craft-repair", "Tech-support", "Armed-Forces"], [12, 13, 13, 4, 0.3], rows)
    country = choose(random, countries, [900] + [100 / (i + 1) for i in range(39)], rows)
    sex = choose(random, ["Male", "Female"], [67, 33], rows)
    age = random.integers(17, 90, rows)
    weight = random.integers(12285, 1484705, rows)
    gain = numpy.where(random.random(rows) < 0.08, random.integers(114, 99999, rows), 0)
    hours = random.integers(1, 99, rows)
    score = 0.03 * age + 0.02 * hours + 0.00004 * gain
    for column in (work, school, married, job, country, sex):
        score = score + effects(world, column, 0.7)
    rich = classes(random, score, 0.24)
    columns = [age, gaps(random, work, 0.06, "?"), weight, school, married, gaps(random, job, 0.06, "?"), sex, gain, hours,
               gaps(random, country, 0.02, "?"), numpy.where(rich, ">50K", "<=50K")]
    return "\n".join(", ".join(map(str, row)) for row in zip(*columns)) + "\n"


def passengers(seed, rows):
    random = numpy.random.default_rng(seed)
    sex = choose(random, ["male", "female"], [65, 35], rows)
    rank = choose(random, [1, 2, 3], [24, 21, 55], rows)
    age = numpy.round(random.gamma(6, 5, rows), 1)
    siblings = random.poisson(0.5, rows)
    fare = numpy.round(random.lognormal(3.2 - 0.6 * (rank - 2), 0.8), 4)
    port = choose(random, ["S", "C", "Q"], [72, 19, 9], rows)
    score = 2.4 * (sex == "female") - 1.0 * rank - 0.03 * age - 0.3 * siblings + 0.4 * (port == "C")
    survived = classes(random, score, 0.38).astype(int)
    lines = ["PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Ticket,Fare,Cabin,Embarked"]
    for i in range(rows):
        title = "Mr." if sex[i] == "male" else "Mrs."
        name = f'"Family{seed}x{i}, {title} Person ""P{i}"" of {i}"'
        ticket = random.choice([str(random.integers(1000, 400000)), f"A/5 {random.integers(10000, 30000)}",
                                f"PC {random.integers(17000, 17900)}"])
        cabin = f"{'ABCDEF'[random.integers(6)]}{random.integers(1, 60)}" if random.random() < 0.23 else ""
        own_age = "" if random.random() < 0.2 else age[i]
        own_port = "" if random.random() < 0.01 else port[i]
        lines.append(f"{i + 1},{survived[i]},{rank[i]},{name},{sex[i]},{own_age},{siblings[i]},{ticket},{fare[i]},{cabin},{own_port}")
    return "\r\n".join(lines) + "\r\n"


def marketing(seed, rows):
    random = numpy.random.default_rng(seed)
    world = numpy.random.default_rng(2)
    job = choose(random, ["admin.", "blue-collar", "technician", "services", "management", "retired", "unknown"],
                 [25, 22, 16, 9, 7, 4, 1], rows)
    month = random.integers(1, 13, rows)
    housing = choose(random, ["yes", "no"], [55, 45], rows)
    outcome = choose(random, ["nonexistent", "failure", "success"], [86, 10, 3], rows)
    age = random.integers(18, 80, rows)
    duration = random.exponential(260, rows).astype(int)
    rate = numpy.round(random.normal(3.6, 1.7, rows), 3)
    zip_code = random.integers(0, 12, rows) * 1001
    season = numpy.array([0.8 * numpy.cos(m) for m in range(1, 13)])
    score = (0.004 * duration - 0.4 * rate + 0.01 * age + 0.5 * (housing == "no") + season[month - 1] +
             effects(world, job, 0.5) + effects(world, outcome, 1.0) + effects(world, zip_code, 0.5))
    bought = classes(random, score, 0.15)
    lines = ['"age";"job";"housing";"called";"duration";"poutcome";"euribor3m";"zip";"y"']
    for i in range(rows):
        day = datetime.date(2020 + int(random.integers(3)), int(month[i]), int(random.integers(1, 29)))
        percent = f"{rate[i]:.3f}".replace(".", ",")
        lines.append(f'{age[i]};"{job[i]}";"{housing[i]}";{day};{duration[i]};"{outcome[i]}";{percent};{zip_code[i]:05d};'
                     f'"{"yes" if bought[i] else "no"}"')
    return "\n".join(lines) + "\n"
