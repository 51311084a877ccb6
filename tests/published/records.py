import numpy as np

people = np.zeros(3, dtype=[("name", "U10"), ("age", "i4"), ("weight", "f8")])
people["name"] = ["Ada", "Bo", "Cy"]
people["age"] = [36, 25, 41]
people["weight"] = [55.5, 80.25, 70.0]
people.sort(order="age")
print(people)
print(people[people["age"] > 30]["name"], people["weight"].mean())
